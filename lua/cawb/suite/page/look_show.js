// ---- results: the answer first, then times, what limits, the picture of the error, the code

const part = (title, ...children) => el("section", {}, el("h2", {}, title), ...children);
const chip = (text) => text ? el("span", { class: "chip" }, text) : null;
const number = (x) => x >= 1e6 ? x.toExponential(2) : x >= 100 ? x.toFixed(0) : String(+x.toPrecision(3));

// Seconds of a time as people read it: "7.6 us".
const units = { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };
const secondsOf = (text) => { const m = /^([\d.]+).* (s|ms|us|ns)$/.exec(text); return m ? m[1] * units[m[2]] : 0; };

function showAnswer(r, busy) {
  const kind = { faster: "better", right: "right", wrong: "wrong" }[r.verdict] || "";
  $("answer").className = "answer " + kind + (busy ? " busy" : "");
  $("headline").textContent = r.sentence;
  const seen = r.depth === "full" ? "all that cawb judge looks at" : r.verdict === "wrong" ? null : "2 draws so far; pause, and the rest is looked at";
  $("chips").replaceChildren(...[chip(seen), chip(r.rule ? "rule " + r.rule : null), chip(r.label), chip(`${r.seconds.toFixed(2)} s`), ...(r.notes || []).map(chip)].filter(Boolean));
  $("marks").replaceChildren(...(r.marks || []).map((m) => el("li", {}, el("button", { onclick: () => goTo(m) },
    `${m.at === "plan" ? "plan.lua" : "kernel.cu"} line ${m.line}`), " " + m.text)));
}

function timesTable(r) {
  if (!r.times) return null;
  const all = r.times.map((row) => secondsOf(row[1])), most = Math.max(...all);
  const rows = r.times.map((row, i) => {
    const beam = el("div", { class: "beam" });
    beam.style.width = most > 0 ? (100 * all[i] / most).toFixed(1) + "%" : "0";
    return el("tr", { class: i === 0 ? "mine" : "" }, el("td", {}, row[0]), el("td", {}, row[1]), el("td", {}, row[2]), el("td", {}, row[3]), el("td", { class: "track" }, beam));
  });
  return part("Time beside PyTorch", el("div", { class: "scroll" }, el("table", { class: "times" }, el("thead", {}, el("tr", {},
    ...["", r.modelled ? "modelled time" : "time", "rms error", "speed-up", ""].map((h) => el("th", {}, h)))), el("tbody", {}, ...rows))),
    el("p", { class: "faint" }, r.timed === r.verified ? `at ${r.timed}` : `timed at ${r.timed}; verified at ${r.verified}`));
}

function facts(r) {
  const list = [], o = r.occupancy;
  for (const [word, text] of r.known || []) list.push(el("dt", {}, word), el("dd", {}, text));
  if (!list.length && !o) return null;
  const meter = o && el("div", { class: "meter", role: "meter", "aria-label": "occupancy", "aria-valuenow": Math.round(100 * o.share), "aria-valuemin": 0, "aria-valuemax": 100 }, el("div"));
  if (meter) meter.firstChild.style.width = (100 * o.share).toFixed(1) + "%";
  const c = r.counts || {};
  return part("What limits it", el("dl", { class: "facts" }, ...list),
    o ? el("p", {}, `occupancy ${(100 * o.share).toFixed(0)}%: a multiprocessor holds ${number(o.blocks)} ${o.blocks === 1 ? "block" : "blocks"} of ${number(o.threads)} threads of ${o.kernel}; the limit is ${o.limiter}`) : null, meter,
    o ? el("p", { class: "faint" }, [`grid ${number(o.grid)}`, o.registers ? `${number(o.registers)} registers` : null, o.shared ? `${number(o.shared)} bytes of shared memory` : null,
      "room for " + o.limits.map(([what, n]) => what === "blocks" ? `${number(n)} blocks at most` : `${number(n)} by ${what}`).join(", ")].filter(Boolean).join("; ")) : null,
    c.sectors ? el("p", { class: "faint" }, [`${number(c.sectors)} sectors a request`, c.wavefronts ? `${number(c.wavefronts)} passes a request to shared memory` : null,
      c.lanes ? `${number(c.lanes)} lanes an instruction` : null].filter(Boolean).join("; ")) : null);
}

// ---- an exercise's goals

function goals(r) {
  if (!r.goals || !r.goals.length) return null;
  const wanted = (g) => [g.least !== undefined ? `at least ${number(g.least)}` : null, g.most !== undefined ? `at most ${number(g.most)}` : null].filter(Boolean).join(", ");
  return part("Goals of the exercise", el("div", { class: "scroll" }, el("table", {}, el("tbody", {}, ...r.goals.map((g) => el("tr", {}, el("td", {}, g.name),
    el("td", {}, g.value === undefined ? "none" : number(g.value)), el("td", {}, wanted(g)), el("td", { class: g.reached ? "good" : "bad" }, g.reached ? "reached" : "not yet")))))),
    ...r.goals.filter((g) => !g.reached).map((g) => el("p", { class: "faint" }, `${g.name}: ${g.says}`)));
}

// ---- the error as a picture

// 0 is ground; from 1e-8 on colder to hotter, by tens; -1, no number, is violet.
function colourOf(e) {
  if (e < 0) return [124, 58, 237];
  if (e === 0) return [148, 163, 184];
  const x = Math.min(1, Math.max(0, (Math.log10(e) + 8) / 8));
  return x < 0.5 ? [Math.round(34 + 400 * x), 160, Math.round(74 - 60 * x)] : [Math.round(234), Math.round(179 - 300 * (x - 0.5)), 20];
}

function picture(p) {
  if (!p.rows || !p.columns) return null;
  const canvas = el("canvas", { class: "grid", width: p.columns, height: p.rows, role: "img",
    "aria-label": `error of ${p.name}: farthest off at [${p.worst.at.join(", ")}]` });
  const ink = canvas.getContext("2d"), image = ink.createImageData(p.columns, p.rows);
  p.cells.forEach((e, i) => { const [r, g, b] = colourOf(e); image.data.set([r, g, b, 255], 4 * i); });
  ink.putImageData(image, 0, 0);
  canvas.style.aspectRatio = `${Math.max(p.columns, 1)} / ${Math.max(Math.min(p.rows, 3 * p.columns), p.columns / 8)}`;
  const said = (v) => v === null || v === undefined ? "no number" : String(typeof v === "number" ? +v.toPrecision(6) : v);
  const off = p.cells.some((e) => e !== 0);
  return el("figure", {}, off ? canvas : null, el("figcaption", {}, `${p.name} [${p.shape.join(", ")}]: ` + (off
    ? `farthest off at [${p.worst.at.join(", ")}]: ${said(p.worst.got)} where ${said(p.worst.wanted)} is right` : "every element is exact")));
}

function pictures(r) {
  if (!r.pictures || !r.pictures.length) return null;
  const key = [[0, "exact"], [1e-7, "1e-7"], [1e-4, "1e-4"], [1e-1, "0.1 and more"], [-1, "not written, or no number"]];
  const off = r.pictures.some((p) => p.cells.some((e) => e !== 0));
  return part("Error", ...r.pictures.map(picture), !off ? null : el("p", { class: "scale" }, ...key.map(([e, text]) => {
    const i = el("i");
    i.style.background = `rgb(${colourOf(e).join(",")})`;
    return el("span", {}, i, text);
  })));
}

// ---- PTX and machine code

const listing = { which: "ptx", line: 0, disassemble: async () => ({}) };

function codePart(r) {
  if (!r.code) return null;
  const box = el("div", { class: "listing", tabindex: 0, role: "region", "aria-label": "instructions" });
  const pick = el("select", { "aria-label": "language", onchange: (e) => { listing.which = e.target.value; fill(); } },
    el("option", { value: "ptx" }, "PTX"), el("option", { value: "sass" }, "SASS"));
  pick.value = listing.which;
  async function fill() {
    if (listing.which === "sass" && !r.code.sass && !r.code.no_sass) {
      box.replaceChildren(el("p", { class: "faint" }, "disassembling ..."));
      Object.assign(r.code, await listing.disassemble());
    }
    const lines = r.code[listing.which];
    if (!lines) { box.replaceChildren(el("p", { class: "faint" }, r.code.no_sass || "there is none")); return; }
    box.replaceChildren(...lines.map(([line, text]) => el("div", { "data-line": line, onclick: () => line && goTo({ at: "kernel", line }) },
      el("span", {}, line ? String(line) : ""), el("span", {}, text))));
    lightUp(listing.line);
  }
  listing.box = box;
  fill();
  return part("Instructions by line", el("p", { class: "controls" }, pick, el("span", { class: "faint" }, "of the caret's line are lit; click one to go to its line")), box,
    r.code.cut ? el("p", { class: "faint" }, "the rest is left out") : null);
}

// Light what was compiled from a line, and bring the first of it into sight.
function lightUp(line) {
  listing.line = line;
  if (!listing.box) return;
  for (const e of listing.box.querySelectorAll(".here")) e.classList.remove("here");
  const mine = line ? listing.box.querySelectorAll(`[data-line="${line}"]`) : [];
  for (const e of mine) e.classList.add("here");
  if (mine.length) listing.box.scrollTop = Math.max(0, mine[0].offsetTop - listing.box.offsetTop - 40);
}

const logPart = (r) => r.log && r.verdict === "wrong" ? part("What the compiler said", el("pre", { class: "log" }, r.log)) : null;

function showResults(r) { $("results").replaceChildren(...[logPart(r), goals(r), timesTable(r), facts(r), pictures(r), codePart(r)].filter(Boolean)); }

// ---- heat: what is shown beside each line

const kinds = {
  share: { title: "instructions", of: (l) => l.samples, text: (v, all) => (100 * v / all).toFixed(v / all < 0.0995 ? 1 : 0) + "%", says: "of the warp instructions" },
  sectors: { title: "sectors a request", of: (l) => l.traffic && l.traffic.global_requests ? l.traffic.global_sectors / l.traffic.global_requests : 0,
    weight: (v) => Math.min(1, v / 32), text: (v) => v.toFixed(1), says: "sectors of 32 bytes for each request of a warp to global memory; 4 hold 32 floats, 32 are one for each thread" },
  conflicts: { title: "bank conflicts", of: (l) => l.traffic && l.traffic.shared_least ? l.traffic.shared_wavefronts / l.traffic.shared_least : 0,
    weight: (v) => v < 1.01 ? 0 : Math.min(1, 0.15 + (v - 1) / 31), text: (v) => v.toFixed(1) + "x", says: "as many passes through shared memory as without bank conflicts" },
};

function heatOf(r, kind) {
  const k = kinds[kind], lines = new Map(), map = new Map();
  for (const l of r.heat || []) lines.set(l.line, [...(lines.get(l.line) || []), l]);
  const value = (list) => kind === "share" ? list.reduce((sum, l) => sum + k.of(l), 0) : Math.max(...list.map(k.of));
  const all = [...lines.values()].map(value), sum = all.reduce((a, b) => a + b, 0), most = Math.max(0, ...all);
  for (const [line, list] of lines) {
    const v = value(list);
    if (v > 0) map.set(line, { share: k.weight ? Math.max(0, k.weight(v)) : v / most, text: k.text(v, sum), title: `${k.text(v, sum)} ${k.says}` });
  }
  return map;
}
