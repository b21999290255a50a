// Of the page of `cawb report LOG`: the curves of a training run. What page.js and charts.js have is known here.
"use strict";

const shades = ["one", "two", "three", "four"];

// Vertical lines where a stage begins, with its name.
const stageLines = (log) => ({ id: "stages", beforeDatasetsDraw(chart) {
  const { ctx, chartArea: a, scales: { x } } = chart;
  ctx.fillStyle = ctx.strokeStyle = colour("faint"); ctx.font = "11px sans-serif"; ctx.lineWidth = 1; ctx.setLineDash([3, 3]);
  log.stages.filter((s) => s.from).forEach((s) => {
    const from = Math.max(a.left, x.getPixelForValue(s.from - 0.5)), to = Math.min(a.right, x.getPixelForValue(s.to + 0.5));
    if (to <= from) return;
    ctx.beginPath(); ctx.moveTo(from, a.top); ctx.lineTo(from, a.bottom); ctx.stroke();
    if (to - from > ctx.measureText(s.name).width + 6) ctx.fillText(s.name, from + 3, a.top + 11);
  });
  ctx.setLineDash([]);
} });

function curveChart(place, log, c, at) {
  const sets = c.curves.map((curve, i) => path(curve.key, shades[i % 4], curve.points.map(([x, y, step, stage]) => ({ x, y, what: `${stage}, step ${step}: ${curve.key} ${+y.toPrecision(4)}` })),
    { pointRadius: curve.points.length > 60 ? 0 : 2, pointHitRadius: 6, segment: { borderColor: (s) => s.p0.raw.what.split(",")[0] === s.p1.raw.what.split(",")[0] ? undefined : "transparent" } }));
  const positive = sets.every((s) => s.data.every((p) => p.y > 0)), y = c.log && positive ? logAxis(c.title, sets, "y") : plainAxis(c.title, sets);
  chart(place, `chart-${at}`, c.what, sets, { x: wholeAxis("step, all stages", [{ data: log.stages.filter((s) => s.from).flatMap((s) => [{ x: s.from }, { x: s.to }]) }]), y }, [stageLines(log)]);
}

function stageTable(place, log) {
  place.append(el("h2", {}, "Stages"));
  table(place, [{ head: "stage", text: (s) => s.name }, { head: "steps", text: (s) => String(s.steps), value: (s) => s.steps },
    { head: "told", long: true, text: (s) => s.told.map(([k, v]) => `${k} ${v}`).join(", ") }], log.stages, "stages");
}

function showLog(log) {
  const place = $("run"), figures = el("div", { class: "charts", id: "figures" });
  place.replaceChildren(answerBox("answer", log.answer, log.name), figures);
  drawCharts(figures, () => log.charts.forEach((c, i) => curveChart(figures, log, c, i)));
  stageTable(place, log);
}

const chooser = el("select", { id: "chooser", "aria-label": "run", onchange: () => showLog(data.logs[chooser.value]) },
  ...data.logs.map((log, i) => el("option", { value: i }, `${log.name}: ${log.answer.headline}`)));
if (data.logs.length > 1) $("pick").append(el("div", { class: "controls" }, chooser));
showLog(data.logs[0]);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
document.documentElement.dataset.ready = "yes";
