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
  const scales = (list) => ({ x: logAxis("times as fast, at least", list, "x"), y: linearAxis("% of all tasks", list, "y", most(list)) });
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

const taskColumns = (modelled) => [
  { head: "task", text: (t) => t.task, act: (t) => leadTo(t.run) }, { head: "level", text: (t) => t.level === undefined ? "-" : String(t.level), value: (t) => t.level },
  { head: "status", text: (t) => t.status, mark }, { head: timeHead(modelled), text: (t) => withInterval(t.time), value: (t) => t.time && t.time[0] },
  { head: "vs eager", text: (t) => ratio(t.eager), value: (t) => t.eager && t.eager[0] }, { head: "vs compile", text: (t) => ratio(t.compile), value: (t) => t.compile && t.compile[0] },
  { head: "at equal error", text: (t) => ratio(t.equal), value: (t) => t.equal && t.equal[0] }, { head: "rms error", text: (t) => small(t.nrms), value: (t) => t.nrms },
  { head: "candidate", text: (t) => `${t.name || ""} ${t.label || ""}` + (t.libraries ? ` (calls ${t.libraries.join(", ")})` : "") },
  { head: "took", text: (t) => time(t.seconds), value: (t) => t.seconds }, { head: "reason", text: (t) => t.odd || t.reason || "", long: true } ];

// ---- speed-up against error, a dot a task

const classes = [["faster by 5%", "three", (t) => t.equal[0] >= 1.05], ["within 5%", "one", (t) => t.equal[0] > 1 / 1.05], ["slower", "two", () => true]];
function classOf(t) { return t.odd ? "suspicious" : classes.find(([, , is]) => is(t))[0]; }

// The tasks that are left by the filters. Without any error stands a result that is exact: at the left edge.
function dotChart(place, s, i, tasks) {
  const timed = tasks.filter((t) => t.equal), errors = timed.map((t) => t.nrms).filter((x) => x > 0), edge = errors.length ? Math.min(...errors) / 3 : 1e-9;
  const dot = (t) => ({ x: t.nrms > 0 ? t.nrms : edge, y: t.equal[0], lo: t.equal[1], hi: t.equal[2], act: leadTo(t.run),
    what: `${t.task}: ${ratio(t.equal)} against ${t.against || "the fastest"}, error ${t.nrms > 0 ? small(t.nrms) : t.nrms === 0 ? "none" : "unknown"}` });
  const of = (label, name) => points(label, name, timed.filter((t) => classOf(t) === label).map(dot), { whiskers: true });
  const sets = [...classes.map(([label, name]) => of(label, name)), of("suspicious", "bad")];
  if (!timed.length) return;
  const x = logAxis("error (normalised rms, against float64)", sets, "x");
  sets.push(path("as fast", "faint", [{ x: x.min, y: 1 }, { x: x.max, y: 1 }], { borderDash: [4, 4], borderWidth: 1 }));
  const left = tasks.length - timed.length, exact = timed.filter((t) => !(t.nrms > 0)).length;
  chart(place, `chart-tasks-${i}`, `Speed-up at equal error against error, a dot a task${s.numbers.modelled ? " (modelled)" : " with its 95% interval"}.`
    + (left ? ` ${left} of ${tasks.length} tasks have no right candidate that was timed, and no dot.` : "") + (exact ? ` ${exact} at the left edge: exact, or of unknown error.` : ""),
    sets, { x, y: logAxis("times as fast", sets, "y", [1]) });
}

function tasksOf(place, s, i) {
  const dots = el("div", { class: "charts wide" });
  const picks = [{ name: "verdict", of: (t) => t.status }];
  if (s.tasks.some((t) => t.level !== undefined)) picks.unshift({ name: "level", of: (t) => t.level === undefined ? "none" : t.level });
  let last = null;
  const follow = (list) => {
    const now = list.map((t) => t.task).sort().join("\n");         // a sort leaves the dots as they are
    if (now !== last) { last = now; drawCharts(dots, () => dotChart(dots, s, i, list)); }
  };
  place.append(el("h3", {}, "Tasks"));
  table(place, taskColumns(s.numbers.modelled), s.tasks, "suite" + i, { picks, between: dots, follow });
}

function showSuite(place, s, i) {
  const n = s.numbers;
  if (data.suites.length > 1) place.append(el("h2", {}, s.title));
  place.append(answerBox("answer-suite" + i, s.answer, `${s.about.strategy || s.id}; ${s.title}`));
  if (n.suspicious.length) place.append(el("p", { class: "bad" }, "Suspicious, in no average: " + n.suspicious.map((x) => `${x.task} (${x.why.join("; ")})`).join(", ")));
  tasksOf(place, s, i);
  place.append(el("h3", {}, "As the field reports it"), el("div", { class: "scroll" }, el("table", { id: "summary-" + i, class: "cards" }, el("thead", {}, el("tr", {}, ...s.headings.map((h) => el("th", {}, h)))),
    el("tbody", {}, ...s.rows.map((r) => el("tr", {}, ...r.map((c, at) => el("td", { "data-head": s.headings[at] }, c))))))), el("p", { class: "faint" }, (s.of_others ? s.of_others + " " : "") + s.footnote));
  const bound = n.groups[n.groups.length - 1].bound;
  if (bound) place.append(el("p", {}, `Share of the bound that memory and arithmetic set: median ${percent({ rate: bound.value, lo: bound.lo ?? bound.value, hi: bound.hi ?? bound.value })}`));
  const figures = el("div", { class: "charts" });
  place.append(figures);
  drawCharts(figures, () => fastCharts(figures, s, i));
  rates(place, s, i);
}

function showSuites(place) { data.suites.forEach((s, i) => showSuite(place, s, i)); }
