// Of the page of `cawb report`: one run, its answer first. What page.js and charts.js have is known here.

const called = (t, text) => `turn ${t.n} ${title(t)}: ${text}`;

function showAnswer(place, run) {
  const m = data.environments[run.environment] || {};
  place.append(answerBox("answer", run.answer, `${run.task}, ${run.strategy || ""} on ${m.model || run.device}: ${run.status}${run.ended ? " (" + run.ended + ")" : ""}`));
  if (run.reason) place.append(el("p", { class: "faint" }, run.reason));
  const note = (run.turns.find((t) => t.n === run.best) || {}).note || "";
  if (note.includes("\n")) place.append(el("h2", {}, "What the best is made of"), el("pre", { id: "made-of" }, note));
}

// ---- charts of a run

function rejectedPoints(run, at) {
  return points("rejected", "bad", run.turns.filter((t) => !t.ok).map((t) => ({ x: t.n, y: at, what: called(t, verdict(t) + ": " + (t.reason || "")) })),
    { pointStyle: "crossRot", pointRadius: 5, borderWidth: 2 });
}

function bestLine(run) {
  let best = 0; const out = [];
  for (const t of run.turns) if (t.best && t.eager) { if (out.length) out.push({ x: t.n, y: best }); best = t.eager[0]; out.push({ x: t.n, y: best }); }
  if (out.length) out.push({ x: run.turns[run.turns.length - 1].n, y: best });
  return path("the best, over eager", "three", out);
}

function speedChart(place, run) {
  const sets = [];
  for (const [kind, name] of [["eager", "one"], ["compile", "two"]]) {
    const list = run.turns.filter((t) => t[kind]).map((t) => ({ x: t.n, y: t[kind][0], lo: t[kind][1], hi: t[kind][2], what: called(t, ratio(t[kind]) + " over " + kind) }));
    sets.push(points("over " + kind, name, list, { whiskers: true }));
  }
  if (!sets.some((s) => s.data.length)) return;
  if (run.turns.length > 1) sets.push(bestLine(run));
  const [lo, hi] = ends(sets, "y"), turns = run.turns.map((t) => ({ x: t.n, y: 1 }));
  sets.push(rejectedPoints(run, lo / Math.max(1.2, (hi / lo) ** 0.08)));
  chart(place, "chart-speed", "Speed-up over turns" + (run.modelled ? " (modelled)" : " with 95% intervals") + (run.turns.some((t) => !t.ok) ? "; crosses: rejected" : ""), sets,
    { x: wholeAxis("turn", [{ data: turns }]), y: logAxis("times as fast", sets, "y", [1]) });
}

function costChart(place, run) {
  const over = (key) => run.turns.filter((t) => t[key]).map((t) => ({ x: t.n, y: t[key], what: called(t, key === "dollars" ? `$${t[key].toFixed(2)} so far` : `${compact(t[key])} tokens so far`) }));
  const tokens = path("tokens", "one", over("tokens"), { pointRadius: 3 });
  const dollars = path("dollars", "two", over("dollars"), { pointRadius: 3, yAxisID: "dollars" });
  if (!tokens.data.length) return;
  const scales = { x: wholeAxis("turn", [{ data: run.turns.map((t) => ({ x: t.n, y: 1 })) }]), y: linearAxis("tokens", [tokens], "y") };
  if (dollars.data.length) scales.dollars = Object.assign(linearAxis("dollars", [dollars], "y"), { position: "right", grid: { display: false } });
  chart(place, "chart-cost", "What the model had cost when each turn ended", [tokens, dollars], scales);
}

function frontier(list) {
  const sorted = list.slice().sort((a, b) => a.x - b.x || a.y - b.y), out = [];
  let least = Infinity;
  for (const p of sorted) if (p.y < least) { least = p.y; out.push({ x: p.x, y: p.y, what: p.what }); }
  return out;
}

function errorChart(place, run) {
  const list = run.turns.filter((t) => t.ok && t.time && t.nrms > 0).map((t) => ({ x: t.nrms, y: t.time[0] * 1e6, what: called(t, `${time(t.time[0])}, error ${small(t.nrms)}`) }));
  const base = Object.entries(run.baselines).filter(([, b]) => b.time && b.nrms > 0).map(([k, b]) => ({ x: b.nrms, y: b.time[0] * 1e6, what: `${k}: ${time(b.time[0])}, error ${small(b.nrms)}` }));
  if (list.length + base.length < 2) return;
  const sets = [points("candidates", "one", list), points("PyTorch", "two", base, { pointStyle: "rect", pointRadius: 5 }), path("frontier", "three", frontier(list.concat(base)), { stepped: true })];
  chart(place, "chart-error", "Time against error (normalised rms, against float64); the line: nothing is both faster and more accurate", sets,
    { x: logAxis("error", sets, "x"), y: logAxis("us", sets, "y") });
}

function roofChart(place, run) {
  const r = run.roof;
  if (!r || !r.bytes || !r.flops) return;
  const at = r.flops / r.bytes, sets = [];
  sets.push(points("candidates", "one", run.turns.filter((t) => t.ok && t.time).map((t) => ({ x: at, y: r.flops / t.time[0], what: called(t, time(t.time[0])) }))));
  sets.push(points("PyTorch", "two", Object.entries(run.baselines).filter(([, b]) => b.time).map(([k, b]) => ({ x: at, y: r.flops / b.time[0], what: k + ": " + time(b.time[0]) })), { pointStyle: "rect", pointRadius: 5 }));
  if (r.bandwidth) {
    const peak = r.peak || at * r.bandwidth * 10, knee = peak / r.bandwidth;
    sets.push(path(r.source === "measured" ? "measured ceilings" : "ceilings (modelled)", "three", [at / 30, Math.min(at, knee), knee, Math.max(at, knee) * 30].sort((a, b) => a - b).map((x) => ({ x, y: Math.min(peak, x * r.bandwidth) }))));
  }
  chart(place, "chart-roof", "Roofline: every candidate that passed, by the operations and bytes that the task needs", sets, { x: logAxis("operations a byte", sets, "x"), y: logAxis("operations a second", sets, "y") });
}

// ---- what bounds each candidate: the three longest parts of its time as bars; a whole bar is its time

const MOST_BOUND = 40;
function bounds(place, run) {
  const all = run.turns.filter((t) => t.bound && t.time), list = all.filter((t, i) => all.length <= MOST_BOUND || t.best || i >= all.length - MOST_BOUND / 2);
  if (!list.length) return;
  place.append(el("h2", {}, "What bounds each candidate"), el("p", { class: "faint" },
    (run.modelled ? "The longest parts of the modelled time; they overlap, so that the shares need not add up to 100%." : "The least that the device's ceilings allow for the bytes and the arithmetic of the task, as shares of the measured time.")
    + (list.length < all.length ? ` ${list.length} of ${all.length} candidates: those that were the best, and the last ones.` : "")));
  const part = (t, [words, s], longest) => el("div", { class: "part" + (longest ? " longest" : "") }, el("span", {}, `${words} ${(100 * s / t.time[0]).toFixed(0)}%`),
    el("div", { class: "track" }, el("div", { class: "bar", style: `width:${Math.min(100, 100 * s / t.time[0]).toFixed(1)}%` })));
  place.append(el("div", { id: "bounds" }, ...list.map((t) => el("div", { class: "bound" }, el("div", {}, `${t.n}. ${title(t)}, ${time(t.time[0])}${t.n === run.best ? " (best)" : ""}`),
    ...t.bound.slice(0, 3).map((p, i) => part(t, p, i === 0))))));
}

// ---- source diffs: the longest common subsequence of lines

function diff(a, b) {
  const n = a.length, m = b.length;
  if (n * m > 4e6) return b.map((line) => ["add", line]);
  const best = Array.from({ length: n + 1 }, () => new Uint32Array(m + 1));
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[i] === b[j]) { out.push(["", a[i]]); i++; j++; }
    else if (j < m && (i === n || best[i][j + 1] >= best[i + 1][j])) out.push(["add", b[j++]]);
    else out.push(["del", a[i++]]);
  }
  return out;
}

// ---- every turn: what it was for, why it was rejected, and what it changed

function diffBox(run, t, before) {
  const lines = run.texts[t.hash].split("\n"), old = before && run.texts[before.hash].split("\n");
  const list = old ? diff(old, lines) : lines.map((l) => ["", l]);
  return [el("p", { class: "faint" }, old ? `Its source, beside that of turn ${before.n}:` : "Its source:"),
    el("pre", {}, ...list.map(([how, line]) => el("div", how ? { class: how } : {}, (how === "add" ? "+ " : how === "del" ? "- " : "  ") + line)))];
}

// Beside what a turn's source is shown: the best before it, or else the turn before it.
function predecessor(run, t) {
  const earlier = run.turns.filter((o) => o.n < t.n && run.texts[o.hash] && o.hash !== t.hash);
  return earlier.filter((o) => o.best).pop() || earlier.pop();
}

function turnBox(run, t) {
  const box = el("details", { id: "turn-" + t.n, class: t.best ? "kept" : "" }, el("summary", {}, `turn ${t.n}: ${title(t)} `,
    el("span", { class: mark(t) }, verdict(t)), t.ok && t.time ? ` ${time(t.time[0])}${run.modelled ? " modelled" : ""}` : "", t.n === run.best ? " (the best)" : t.best ? " (the best until then)" : ""));
  box.addEventListener("toggle", () => {
    if (!box.open || box.childElementCount > 1) return;
    if (t.note) box.append(el("p", { class: "said" }, t.note));
    if (t.reason) box.append(el("p", { class: "bad said" }, t.reason));
    if (t.more) box.append(el("pre", {}, t.more));
    if (t.told) box.append(el("p", { class: "said" }, t.told));
    if (run.texts[t.hash]) box.append(...diffBox(run, t, predecessor(run, t)));
  });
  return box;
}

const TURNS_SHOWN = 60;
function turnBoxes(place, run) {
  const list = run.turns.filter((t) => run.texts[t.hash] || t.note || t.reason), kept = list.filter((t) => t.best);
  if (!list.length) return;
  let only = list.length > TURNS_SHOWN && kept.length > 0;
  const boxes = el("div", { id: "boxes" });
  const draw = () => boxes.replaceChildren(...(only ? kept : list.slice(0, TURNS_SHOWN)).map((t) => turnBox(run, t)));
  place.append(el("h2", {}, "Turn by turn: notes, reasons, changes"));
  if (kept.length && kept.length < list.length) place.append(el("label", {}, el("input", Object.assign({ type: "checkbox", id: "only-best",
    onchange: (e) => { only = e.target.checked; draw(); } }, only ? { checked: "" } : {})), " only those that were the best when they came"));
  place.append(boxes);
  draw();
  if (list.length > TURNS_SHOWN) place.append(el("p", { class: "faint" }, `At most ${TURNS_SHOWN} of ${list.length}; the table below has all turns.`));
}

function profileTable(place, run) {
  if (!run.profiles.length) return;
  place.append(el("h2", {}, run.profiles.length > 1 ? "Profile, before and after" : "Profile"));
  for (const p of run.profiles) if (p.limiter) place.append(el("p", {}, `turn ${p.n}: ${p.limiter}`));
  const every = [...new Set(run.profiles.flatMap((p) => Object.keys(p.metrics)))].sort(), names = every.filter((n) => run.profiles.some((p) => p.metrics[n]));
  const number = (x) => x === undefined ? "-" : Number.isInteger(x) ? String(x) : x.toPrecision(4);
  const box = el("details", {}, el("summary", {}, `${names.length} metrics` + (names.length < every.length ? `; ${every.length - names.length} more are 0 in every profile` : "")));
  place.append(box);
  table(box, [{ head: "metric", text: (n) => n }, ...run.profiles.map((p) => ({ head: `turn ${p.n} (${p.source})`, text: (n) => number(p.metrics[n]), value: (n) => p.metrics[n] }))], names, "profile");
}

// ---- sections

const turnColumns = (run) => [
  { head: "turn", text: (t) => String(t.n), value: (t) => t.n }, { head: "candidate", text: title },
  { head: "verdict", text: verdict, mark }, { head: timeHead(run.modelled), keep: true, text: (t) => withInterval(t.time), value: (t) => t.time && t.time[0] },
  { head: "vs eager", text: (t) => ratio(t.eager), value: (t) => t.eager && t.eager[0] }, { head: "vs compile", text: (t) => ratio(t.compile), value: (t) => t.compile && t.compile[0] },
  { head: "rms error", text: (t) => small(t.nrms), value: (t) => t.nrms }, { head: "reward", text: (t) => t.reward === undefined ? "-" : String(+t.reward.toPrecision(3)), value: (t) => t.reward },
  { head: "told", text: (t) => t.told || "", long: true }, { head: "reason", text: (t) => t.reason || "", long: true } ];

// What confined candidates that are programs, and what is therefore not guaranteed.
function confinement(place, run) {
  const c = run.confinement;
  if (!c) return;
  place.append(el("p", { class: "faint" }, `Candidates were confined by ${c.jail}.`));
  if (c.lacks.length) place.append(el("p", { class: "bad", id: "lacks" }, "What this machine lacks, so that it is not guaranteed: " + c.lacks.join("; ")));
}

// Where a baseline is modelled, eager PyTorch was run as the judge's own, on the processor.
function errorOf(run, kind, b) {
  const best = run.turns.find((t) => t.n === run.best);
  return b.nrms || (kind === "eager" && best ? best.eager_nrms : undefined);
}

function baselineTable(place, run) {
  if (!Object.keys(run.baselines).length) return;
  place.append(el("h2", {}, "PyTorch"));
  table(place, [{ head: "baseline", text: ([k]) => k }, { head: timeHead(run.modelled), text: ([, b]) => withInterval(b.time), value: ([, b]) => b.time && b.time[0] },
    { head: "rms error", text: ([k, b]) => small(errorOf(run, k, b)) + (run.modelled && !errorOf(run, k, b) ? " (not run)" : ""), value: ([k, b]) => errorOf(run, k, b) }, { head: "failed", text: ([, b]) => b.failed || "", long: true }], Object.entries(run.baselines), "baselines");
}

function environmentTable(place, run) {
  const m = data.environments[run.environment] || {}, box = el("details", {}, el("summary", {}, "Environment"));
  place.append(box);
  table(box, [{ head: "what", text: ([k]) => k }, { head: "value", text: ([, v]) => String(v) }], Object.entries(m).concat([["seed", run.seed || "-"], ["run", run.id]]), "environment");
}

function showRun(run) {
  const place = $("run"), figures = el("div", { class: "charts", id: "figures" });
  place.replaceChildren();
  showAnswer(place, run);
  confinement(place, run);
  place.append(figures);
  drawCharts(figures, () => { speedChart(figures, run); costChart(figures, run); errorChart(figures, run); roofChart(figures, run); });
  bounds(place, run);
  turnBoxes(place, run);
  showTalk(place, run);
  profileTable(place, run);
  if (run.turns.length) {
    place.append(el("h2", {}, "Turns"));
    table(place, turnColumns(run), run.turns, "turns");
  }
  baselineTable(place, run);
  environmentTable(place, run);
}
