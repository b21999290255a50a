// Of the page of `cawb report`: suites. What page.js has is known here.

const kinds = [["eager", "eager"], ["compile", "compile"], ["max_autotune", "max-autotune"], ["equal_error", "the fastest at equal error"]];
const percent = (w) => w ? `${(100 * w.rate).toFixed(0)}% [${(100 * w.lo).toFixed(0)}, ${(100 * w.hi).toFixed(0)}]` : "-";
const times = (b) => !b ? "-" : b.lo === undefined ? b.value.toFixed(2) + "x" : `${b.value.toFixed(2)}x [${b.lo.toFixed(2)}, ${b.hi.toFixed(2)}]`;

// fast_p as a line: of how many tasks the candidate is at least p times as fast.
function fastLine(label, name, curve) {
  return path(label, name, curve.map(({ p, share }) => ({ x: p, y: 100 * share.rate, lo: 100 * share.lo, hi: 100 * share.hi,
    what: `${label}: at least ${p}x on ${percent(share)}` })), { whiskers: true, pointRadius: 3 });
}

function fastCharts(figures, s, i) {
  const colours = ["one", "two", "three", "four"], groups = s.numbers.groups, all = groups[groups.length - 1];
  const most = (list) => Math.max(1, ...list.flatMap((line) => line.data.map((p) => p.hi)));
  const scales = (list) => ({ x: Object.assign(axis("times as fast, at least", true), { min: 0.4, max: 6 }),
    y: Object.assign(axis("% of all tasks"), { min: 0, suggestedMax: most(list) }) });
  const kindLines = kinds.filter(([k]) => all.curve[k]).map(([k, label], at) => fastLine("over " + label, colours[at], all.curve[k]));
  const levelLines = groups.slice(0, -1).map((g, at) => fastLine("level " + g.level, colours[at % 4], g.curve.compile));
  chart(figures, `chart-fast-${i}`, "fast_p of all tasks with 95% intervals, by what is compared with", kindLines, scales(kindLines));
  if (levelLines.length) chart(figures, `chart-levels-${i}`, "fast_p over compile, by level", levelLines, scales(levelLines));
}

// Every number that the field reports, by level and by what is compared with.
function rates(place, s, i) {
  const list = s.numbers.groups.flatMap((g) => kinds.filter(([k]) => g.faster[k]).map(([k, label]) => ({ g, k, label })));
  const steps = s.numbers.groups[0].curve.eager.map((c) => c.p);
  const of = (b) => b && b.value;
  place.append(el("h3", {}, "Rates and speed-ups, by level"));
  table(place, [{ head: "level", text: (r) => String(r.g.level) }, { head: "over", text: (r) => r.label },
    { head: "faster by 5%", text: (r) => percent(r.g.faster[r.k]), value: (r) => r.g.faster[r.k].rate },
    { head: "geomean", text: (r) => times(r.g.geomean[r.k]), value: (r) => of(r.g.geomean[r.k]) },
    { head: "median", text: (r) => times(r.g.median[r.k]), value: (r) => of(r.g.median[r.k]) },
    ...steps.map((p, at) => ({ head: `at least ${p}x`, text: (r) => percent(r.g.curve[r.k][at].share), value: (r) => r.g.curve[r.k][at].share.rate }))],
    list, "rates" + i);
}

const taskColumns = [
  { head: "task", text: (t) => t.task, act: (t) => leadTo(t.run) }, { head: "level", text: (t) => t.level === undefined ? "-" : String(t.level), value: (t) => t.level },
  { head: "status", text: (t) => t.status, mark }, { head: "time", text: (t) => withInterval(t.time), value: (t) => t.time && t.time[0] },
  { head: "vs eager", text: (t) => ratio(t.eager), value: (t) => t.eager && t.eager[0] }, { head: "vs compile", text: (t) => ratio(t.compile), value: (t) => t.compile && t.compile[0] },
  { head: "at equal error", text: (t) => ratio(t.equal), value: (t) => t.equal && t.equal[0] }, { head: "error", text: (t) => small(t.nrms), value: (t) => t.nrms },
  { head: "candidate", text: (t) => `${t.name || ""} ${t.label || ""}` + (t.libraries ? ` (calls ${t.libraries.join(", ")})` : "") },
  { head: "took", text: (t) => time(t.seconds), value: (t) => t.seconds }, { head: "reason", text: (t) => t.odd || t.reason || "", long: true } ];

function showSuite(place, s, i) {
  const n = s.numbers, all = n.groups[n.groups.length - 1];
  place.append(el("h2", {}, `Suite: ${s.about.strategy || s.id}`));
  if (n.suspicious.length) place.append(el("p", { class: "bad" }, "Suspicious, in no average: " + n.suspicious.map((x) => `${x.task} (${x.why.join("; ")})`).join(", ")));
  if (n.modelled) place.append(el("p", { class: "bad" }, "Times are modelled, not measured: they rank candidates and are no result."));
  place.append(el("div", { class: "scroll" }, el("table", { id: "summary-" + i }, el("thead", {}, el("tr", {}, ...s.headings.map((h) => el("th", {}, h)))),
    el("tbody", {}, ...s.rows.map((r) => el("tr", {}, ...r.map((c) => el("td", {}, c))))))), el("p", { class: "faint" }, s.footnote));
  place.append(el("p", {}, Object.entries(all.statuses).sort((a, b) => b[1] - a[1]).map(([status, k]) => `${k} ${status}`).join(", ")
    + (all.bound ? `; share of the bound that memory and arithmetic set: median ${percent({ rate: all.bound.value, lo: all.bound.lo ?? all.bound.value, hi: all.bound.hi ?? all.bound.value })}` : "")));
  const figures = el("div", { class: "charts" });
  place.append(figures);
  drawCharts(figures, () => fastCharts(figures, s, i));
  rates(place, s, i);
  place.append(el("h3", {}, "Tasks"));
  table(place, taskColumns, s.tasks, "suite" + i);
}

function showSuites(place) { data.suites.forEach((s, i) => showSuite(place, s, i)); }
