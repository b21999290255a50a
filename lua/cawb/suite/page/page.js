// The page of `cawb report`: draws the data that it carries. No network, no state but the page's own.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick" || key === "oninput" || key === "onchange") e[key] = value; else e.setAttribute(key, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// ---- numbers as people read them

const digits = (x) => x >= 999.5 ? x.toFixed(0) : x.toPrecision(3);
function time(s) {
  if (s === undefined || s === null) return "-";
  for (const [size, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "us"]]) if (s >= size) return digits(s / size) + " " + unit;
  return digits(s / 1e-9) + " ns";
}
// One digit, never less than it was: 0.034 is 0.04.
function roundUp(x) {
  const step = 10 ** Math.floor(Math.log10(x));
  return +(Math.ceil(x / step - 1e-9) * step).toPrecision(1);
}
function ratio(t) {
  if (!t) return "-";
  const text = t[0].toFixed(t[0] < 0.1 ? 3 : 2) + "x", half = Math.max(t[0] - t[1], t[2] - t[0]);
  return half > 0 ? `${text} \u00b1${roundUp(half)}` : text;
}
const withInterval = (t) => !t ? "-" : t[1] === t[2] ? time(t[0]) : `${time(t[0])} [${time(t[1])}, ${time(t[2])}]`;
const small = (x) => x === undefined || x === null ? "-" : x === 0 ? "0" : x.toExponential(1);

// ---- tables that sort and filter; a part of the rows at a time

const STEP = 200;
function table(place, columns, rows, name) {
  let order = null, down = false, words = "", shown = STEP;
  const texts = rows.map((row) => columns.map((c) => String(c.text(row))).join(" ").toLowerCase());
  const body = el("tbody"), more = el("button", { onclick: () => { shown += STEP * 5; draw(); } }), count = el("span", { class: "faint" });
  const heads = columns.map((c, i) => el("th", { "aria-sort": "none" }, el("button", { onclick: () => sort(i) }, c.head)));
  function sort(i) { down = order === i ? !down : false; order = i; draw(); }
  function value(row, c) { const v = c.value ? c.value(row) : c.text(row); return v === undefined || v === null ? "" : v; }
  function chosen() {
    let list = rows.map((_, i) => i);
    if (words) list = list.filter((i) => words.split(/\s+/).every((w) => texts[i].includes(w)));
    if (order !== null) {
      const c = columns[order], keys = rows.map((r) => value(r, c));
      list.sort((a, b) => { const x = keys[a], y = keys[b];
        if (x === "" || y === "") return (x === "") - (y === "");         // what is absent comes last, both ways
        return (x < y ? -1 : x > y ? 1 : a - b) * (down ? -1 : 1); });
    }
    return list;
  }
  function draw() {
    const list = chosen();
    heads.forEach((h, i) => h.setAttribute("aria-sort", order !== i ? "none" : down ? "descending" : "ascending"));
    body.replaceChildren(...list.slice(0, shown).map((i) => el("tr", {}, ...columns.map((c) => {
      const text = c.text(rows[i]), act = c.act && c.act(rows[i]);
      return el("td", { class: (c.long ? "long " : "") + (c.mark ? c.mark(rows[i]) : "") }, act ? el("button", { onclick: act }, text) : text);
    }))));
    count.textContent = `${list.length} of ${rows.length}`;
    more.textContent = `show more (${list.length - shown} hidden)`;
    more.hidden = list.length <= shown;
  }
  const filter = el("input", { type: "search", placeholder: "filter, e.g. pass softmax", "aria-label": "filter " + name, id: "filter-" + name,
    oninput: (e) => { words = e.target.value.trim().toLowerCase(); shown = STEP; draw(); } });
  place.append(el("div", { class: "controls" }, filter, count),
    el("div", { class: "scroll" }, el("table", { id: "table-" + name }, el("thead", {}, el("tr", {}, ...heads)), body)), more);
  draw();
}

const mark = (row) => row.ok === undefined ? (row.status === "pass" ? "good" : "") : row.ok ? "good" : "bad";
const verdict = (t) => t.ok ? "pass" : "rejected at " + t.stage;

// ---- charts

// Elements with charts in them. A canvas keeps its colours until it is drawn anew; the tables follow the style sheet.
const groups = new Map();
let charts = [];       // of the group that is being drawn
function drawCharts(figures, draw) {
  for (const [old, group] of groups) if (old === figures || !old.isConnected) { group.charts.forEach((c) => c.destroy()); groups.delete(old); }
  figures.replaceChildren();
  groups.set(figures, { draw, charts: charts = [] });
  draw(figures);
}
function drawAll() {
  for (const [figures, { draw }] of [...groups]) if (figures.isConnected) drawCharts(figures, draw);
}

const whiskers = {     // a line from lo to hi through each point that has both
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const { ctx, scales: { x, y } } = chart;
    chart.data.datasets.forEach((set, i) => {
      if (!set.whiskers || !chart.isDatasetVisible(i) || set.data.length > 2000) return;
      ctx.strokeStyle = set.borderColor; ctx.lineWidth = 1; ctx.beginPath();
      for (const p of set.data) if (p.lo > 0 && p.hi > p.lo) {
        const at = x.getPixelForValue(p.x);
        ctx.moveTo(at, y.getPixelForValue(p.lo)); ctx.lineTo(at, y.getPixelForValue(p.hi));
      }
      ctx.stroke();
    });
  } };

// 1e-8, 0.5, 20, 3T: short enough for a tick.
function compact(x) {
  for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) if (Math.abs(x) >= size) return +(x / size).toPrecision(3) + letter;
  return x !== 0 && Math.abs(x) < 1e-2 ? x.toExponential(0) : String(+x.toPrecision(3));
}

function axis(title, log) {
  return { type: log ? "logarithmic" : "linear", title: { display: true, text: title, color: colour("faint") },
    ticks: { color: colour("faint"), maxTicksLimit: 8, maxRotation: 0, autoSkipPadding: 12, callback: compact }, grid: { color: colour("line") } };
}

function chart(place, id, caption, datasets, scales) {
  const canvas = el("canvas", { id, role: "img", "aria-label": caption });
  place.append(el("figure", {}, el("div", { class: "plot" }, canvas), el("figcaption", {}, caption)));
  if (typeof Chart === "undefined") { canvas.replaceWith(el("p", { class: "faint" }, "This report was made without its charting library.")); return; }
  charts.push(new Chart(canvas, { type: "scatter", data: { datasets }, plugins: [whiskers], options: { animation: false,
    responsive: true, maintainAspectRatio: false, normalized: true, parsing: false, scales,
    plugins: { legend: { labels: { color: colour("text"), boxWidth: 12 } },
      tooltip: { callbacks: { label: (c) => c.raw.what || `${c.dataset.label}: ${c.parsed.y.toPrecision(3)}` } } } } }));
}

const points = (label, name, list, more) => Object.assign({ label, data: list, borderColor: colour(name), backgroundColor: colour(name),
  pointRadius: list.length > 1000 ? 1.5 : 3 }, more);
const path = (label, name, list, more) => points(label, name, list, Object.assign({ showLine: true, pointRadius: 0, borderWidth: 2 }, more));
const called = (t, text) => `turn ${t.n} ${t.name || ""} ${t.label || ""}: ${text}`;

function speedChart(place, run) {
  const sets = [];
  for (const [kind, name] of [["eager", "one"], ["compile", "two"]]) {
    const list = run.turns.filter((t) => t[kind]).map((t) => ({ x: t.n, y: t[kind][0], lo: t[kind][1], hi: t[kind][2], what: called(t, ratio(t[kind]) + " over " + kind) }));
    if (list.length) sets.push(points("over " + kind, name, list, { whiskers: true }));
  }
  let spent = 0; const cost = run.turns.map((t) => ({ x: t.n, y: spent += t.spent || 0 }));
  let best = 0; const steps = [];
  for (const t of run.turns) if (t.best && t.eager) { if (steps.length) steps.push({ x: t.n, y: best }); best = t.eager[0]; steps.push({ x: t.n, y: best }); }
  if (steps.length) { steps.push({ x: run.turns.length, y: best }); sets.push(path("the best, over eager", "three", steps)); }
  sets.push(path("seconds spent", "faint", cost, { yAxisID: "spent", borderDash: [4, 4], borderWidth: 1 }));
  chart(place, "chart-speed", "Speed-up over turns with 95% intervals; dashed: the seconds that the turns took", sets, { x: axis("turn"),
    y: axis("times as fast", true), spent: Object.assign(axis("s"), { position: "right", grid: { display: false } }) });
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
  if (!list.length) return;
  chart(place, "chart-error", "Time against error (normalised rms, against float64); the line: nothing is both faster and more accurate",
    [points("candidates", "one", list), points("PyTorch", "two", base, { pointStyle: "rect", pointRadius: 5 }), path("frontier", "three", frontier(list.concat(base)), { stepped: true })],
    { x: axis("error", true), y: axis("us", true) });
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
  chart(place, "chart-roof", "Roofline: every candidate that passed, by the operations and bytes that the task needs", sets, { x: axis("operations a byte", true), y: axis("operations a second", true) });
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

function lineage(place, run) {
  if (!run.sources.length) return;
  place.append(el("h2", {}, "How the best came to be"));
  run.sources.forEach((s, i) => {
    const box = el("details", {}, el("summary", {}, `turn ${s.n}: ${s.name || ""} ${s.label || ""}`));
    box.addEventListener("toggle", () => {
      if (!box.open || box.querySelector("pre")) return;
      const lines = s.text.split("\n"), before = i > 0 ? run.sources[i - 1].text.split("\n") : null;
      const list = before ? diff(before, lines) : lines.map((l) => ["", l]);
      box.append(el("pre", {}, ...list.map(([how, line]) => el("div", how ? { class: how } : {}, (how === "add" ? "+ " : how === "del" ? "- " : "  ") + line))));
    });
    place.append(box);
  });
}

function profileTable(place, run) {
  if (!run.profiles.length) return;
  place.append(el("h2", {}, "Profile, before and after"));
  for (const p of run.profiles) if (p.limiter) place.append(el("p", {}, `turn ${p.n}: ${p.limiter}`));
  const names = [...new Set(run.profiles.flatMap((p) => Object.keys(p.metrics)))].sort();
  const number = (x) => x === undefined ? "-" : Number.isInteger(x) ? String(x) : x.toPrecision(4);
  table(place, [{ head: "metric", text: (n) => n }, ...run.profiles.map((p) => ({ head: `turn ${p.n} (${p.source})`, text: (n) => number(p.metrics[n]), value: (n) => p.metrics[n] }))], names, "profile");
}

// ---- sections

const turnColumns = [
  { head: "turn", text: (t) => String(t.n), value: (t) => t.n }, { head: "candidate", text: (t) => `${t.name || ""} ${t.label || ""}` },
  { head: "verdict", text: verdict, mark }, { head: "time", text: (t) => withInterval(t.time), value: (t) => t.time && t.time[0] },
  { head: "vs eager", text: (t) => ratio(t.eager), value: (t) => t.eager && t.eager[0] }, { head: "vs compile", text: (t) => ratio(t.compile), value: (t) => t.compile && t.compile[0] },
  { head: "error", text: (t) => small(t.nrms), value: (t) => t.nrms }, { head: "reward", text: (t) => t.reward === undefined ? "-" : String(+t.reward.toPrecision(3)), value: (t) => t.reward },
  { head: "told", text: (t) => t.told || "", long: true }, { head: "reason", text: (t) => t.reason || "", long: true } ];

// What confined candidates that are programs, and what is therefore not guaranteed.
function confinement(place, run) {
  const c = run.confinement;
  if (!c) return;
  place.append(el("p", { class: "faint" }, `Candidates were confined by ${c.jail}.`));
  if (c.lacks.length) place.append(el("p", { class: "bad", id: "lacks" }, "What this machine lacks, so that it is not guaranteed: " + c.lacks.join("; ")));
}

function showRun(run) {
  const place = $("run");
  place.replaceChildren();
  const m = data.environments[run.environment] || {};
  place.append(el("p", {}, `${run.task}, ${run.strategy || ""} on ${m.model || run.device}: ${run.status}${run.ended ? " (" + run.ended + ")" : ""}`),
    el("p", { class: run.modelled ? "bad" : "faint" }, run.modelled ? "Times are modelled, not measured: they rank candidates and are no result." : "Times are measured; medians with 95% intervals."));
  if (run.reason) place.append(el("p", { class: "faint" }, run.reason));
  confinement(place, run);
  const figures = el("div", { class: "charts", id: "figures" });
  place.append(figures);
  drawCharts(figures, () => { speedChart(figures, run); errorChart(figures, run); roofChart(figures, run); });
  lineage(place, run);
  profileTable(place, run);
  place.append(el("h2", {}, "Turns"));
  table(place, turnColumns, run.turns, "turns");
  place.append(el("h2", {}, "PyTorch"));
  table(place, [{ head: "baseline", text: ([k]) => k }, { head: "time", text: ([, b]) => withInterval(b.time), value: ([, b]) => b.time && b.time[0] },
    { head: "error", text: ([, b]) => small(b.nrms), value: ([, b]) => b.nrms }, { head: "", text: ([, b]) => b.failed || "", long: true }], Object.entries(run.baselines), "baselines");
  place.append(el("h2", {}, "Environment"));
  table(place, [{ head: "what", text: ([k]) => k }, { head: "", text: ([, v]) => String(v) }], Object.entries(m).concat([["seed", run.seed || "-"], ["run", run.id]]), "environment");
}
