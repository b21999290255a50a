// Of the page of `cawb report`, last: what is shown first, and how one comes from one part to another.

// From elsewhere on the page; undefined where the page has not got that run.
function leadTo(id) {
  const at = data.runs.findIndex((r) => r.id === id);
  return at < 0 ? undefined : () => { chooser.value = at; showRun(data.runs[at]); $("pick").scrollIntoView(); };
}

const longest = data.runs.reduce((a, b) => !a || b.turns.length > a.turns.length ? b : a, null);
const chooser = el("select", { id: "chooser", "aria-label": "run", onchange: () => showRun(data.runs[chooser.value]) },
  ...data.runs.map((r, i) => el("option", { value: i }, `${r.task}, ${r.turns.length} turns, ${r.status}: ${r.id}`)));
showSuites($("suites"));
if (longest) {
  $("pick").append(el("h2", {}, "Run"), el("div", { class: "controls" }, chooser));
  chooser.value = data.runs.indexOf(longest);
  showRun(longest);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
document.documentElement.dataset.ready = "yes";
