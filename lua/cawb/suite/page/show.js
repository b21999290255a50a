// Of the page of `cawb report`, last: what is shown first, and how one comes from one part to another.

// From elsewhere on the page; undefined where the page has not got that run.
function leadTo(id) {
  const at = data.runs.findIndex((r) => r.id === id);
  return at < 0 ? undefined : () => { chooser.value = at; showRun(data.runs[at]); $("pick").scrollIntoView(); };
}

const begun = (r) => new Date(r.started * 1000).toISOString().slice(0, 19).replace("T", " ");
const by = (r) => (r.strategy || "").split("/").pop().replace(/\.lua$/, "");
const best = (r) => r.turns.find((t) => t.n === r.best) || {};
const runColumns = [
  { head: "task", text: (r) => r.task, act: (r) => leadTo(r.id) }, { head: "begun (UTC)", text: begun }, { head: "strategy", text: by },
  { head: "at equal error", text: (r) => ratio(best(r).equal), value: (r) => best(r).equal && best(r).equal[0] },
  { head: "time", text: (r) => withInterval(best(r).time) + (best(r).time && r.modelled ? " modelled" : ""), value: (r) => best(r).time && best(r).time[0] },
  { head: "turns", text: (r) => String(r.turns.length), value: (r) => r.turns.length },
  { head: "status", text: (r) => r.status, mark: (r) => r.status === "passed" ? "good" : "" },
  { head: "answer", text: (r) => r.answer.headline, long: true } ];

// The run begun last that tried something; runs of suites are told of there.
const first = data.runs.filter((r) => r.turns.length).pop() || data.runs[data.runs.length - 1];
const inSuites = new Set(data.suites.flatMap((s) => s.tasks.map((t) => t.run))), alone = data.runs.filter((r) => !inSuites.has(r.id));
const chooser = el("select", { id: "chooser", "aria-label": "run", onchange: () => showRun(data.runs[chooser.value]) },
  ...data.runs.map((r, i) => el("option", { value: i }, `${r.task} by ${by(r)}, ${begun(r)}: ${r.answer.headline || r.status}`)));
showSuites($("suites"));
if (alone.length > 1) {
  $("suites").append(el("h2", {}, data.suites.length ? "Runs beside suites" : "Runs"));
  table($("suites"), runColumns, alone, "runs", { picks: [{ name: "status", of: (r) => r.status }] });
}
if (first) {
  if (data.runs.length > 1) $("pick").append(el("h2", {}, "One run"), el("div", { class: "controls" }, chooser));
  chooser.value = data.runs.indexOf(first);
  showRun(first);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
document.documentElement.dataset.ready = "yes";
