// Of the page of `cawb report`: charts. What page.js has is known here.

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

// ---- axes: their ends lie outside of all points, their ticks at round values

// 1e-8, 0.5, 20, 3T: short enough for a tick.
function compact(x, most = 3) {
  for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) if (Math.abs(x) >= size) return +(x / size).toPrecision(most) + letter;
  return x !== 0 && Math.abs(x) < 1e-2 ? x.toExponential(most - 2).replace(/\.0+e/, "e") : String(+x.toPrecision(most));
}

// A tick beside all others: with as many digits as tell them apart.
function tick(x, _, all) {
  let most = 3;
  while (most < 9 && new Set(all.map((t) => compact(t.value, most))).size < all.length) most++;
  return compact(x, most);
}

// 1, 2 or 5 times a power of ten, at least x.
function roundStep(x) {
  const base = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((k) => k * base).find((s) => s >= x * 0.999);
}

function steps(lo, hi, most, least) {
  const step = Math.max(least || 0, roundStep((hi - lo) / most)), out = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi * (1 + 1e-12); k++) out.push(+(k * step).toPrecision(12));
  return out;
}

function decades(lo, hi, most) {
  const span = Math.log10(hi / lo);
  if (span < 0.9) return steps(lo, hi, most);
  const every = Math.max(1, Math.ceil(span / most)), factors = span < most / 3 ? [1, 2, 5] : span < most / 2 ? [1, 3] : [1], out = [];
  for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi); e++) if (e % every === 0) for (const f of factors) if (f * 10 ** e >= lo && f * 10 ** e <= hi) out.push(f * 10 ** e);
  return out.length > 1 ? out : steps(lo, hi, most);
}

const shape = (heading, type, min, max, ticks) => ({ type, min, max, title: { display: true, text: heading, color: colour("faint") },
  afterBuildTicks: (a) => { a.ticks = ticks(a.width && a.axis === "x" ? Math.max(3, Math.min(10, Math.floor(a.width / 55))) : 7).map((value) => ({ value })); },
  ticks: { color: colour("faint"), maxRotation: 0, autoSkip: true, autoSkipPadding: 10, callback: tick }, grid: { color: colour("line") } });

// Of all points of some data sets along one axis: the least and the most, with their whiskers.
function ends(sets, key) {
  let lo = Infinity, hi = -Infinity;
  for (const set of sets) for (const p of set.data) {
    const below = key === "y" && p.lo > 0 ? Math.min(p.lo, p.y) : p[key], above = key === "y" && p.hi > 0 ? Math.max(p.hi, p.y) : p[key];
    lo = Math.min(lo, below); hi = Math.max(hi, above);
  }
  return lo <= hi ? [lo, hi] : [1, 1];
}

function logAxis(heading, sets, key, always) {
  let [lo, hi] = ends(sets, key);
  for (const x of always || []) { lo = Math.min(lo, x); hi = Math.max(hi, x); }
  const room = Math.max(1.12, (hi / lo) ** 0.07);
  const min = lo / room, max = hi * room;
  return shape(heading, "logarithmic", min, max, (most) => decades(min, max, most));
}

function linearAxis(heading, sets, key, most) {
  const [, hi] = ends(sets, key), max = (most || hi || 1) * 1.06;
  return shape(heading, "linear", 0, max, (n) => steps(0, max, n));
}

// Of values of either sign.
function plainAxis(heading, sets) {
  const [lo, hi] = ends(sets, "y"), room = 0.08 * (hi - lo) || Math.abs(hi) * 0.1 || 1;
  return shape(heading, "linear", lo - room, hi + room, (most) => steps(lo - room, hi + room, most));
}

// Turns, steps: whole numbers, and at least half of one on either side.
function wholeAxis(heading, sets) {
  const [lo, hi] = ends(sets, "x"), room = Math.max(0.5, 0.02 * (hi - lo));
  return shape(heading, "linear", lo - room, hi + room, (most) => steps(lo, hi, most, 1).filter((x) => Number.isInteger(x)));
}

// ---- one chart. A set without points is not named either.

function chart(place, id, caption, sets, scales, more) {
  const datasets = sets.filter((s) => s.data.length > 0);
  if (!datasets.length) return;
  const canvas = el("canvas", { id, role: "img", "aria-label": caption });
  place.append(el("figure", {}, el("div", { class: "plot" }, canvas), el("figcaption", {}, caption)));
  if (typeof Chart === "undefined") { canvas.replaceWith(el("p", { class: "faint" }, "This report was made without its charting library.")); return; }
  charts.push(new Chart(canvas, { type: "scatter", data: { datasets }, plugins: [whiskers, ...(more || [])], options: { animation: false,
    responsive: true, maintainAspectRatio: false, normalized: true, parsing: false, scales,
    onClick: (_, hit) => { const p = hit.length && datasets[hit[0].datasetIndex].data[hit[0].index]; if (p && p.act) p.act(); },
    plugins: { legend: { labels: { color: colour("text"), boxWidth: 12, boxHeight: 8, usePointStyle: true } },
      tooltip: { callbacks: { label: (c) => c.raw.what || `${c.dataset.label}: ${c.parsed.y.toPrecision(3)}` } } } } }));
}

const points = (label, name, list, more) => Object.assign({ label, data: list, borderColor: colour(name), backgroundColor: colour(name),
  pointRadius: list.length > 1000 ? 1.5 : 3.5 }, more);
const path = (label, name, list, more) => points(label, name, list, Object.assign({ showLine: true, pointRadius: 0, borderWidth: 2, pointStyle: "line" }, more));
