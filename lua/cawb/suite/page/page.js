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

const timeHead = (modelled) => modelled ? "modelled time" : "time";

// ---- tables that sort and filter; a part of the rows at a time. A column in which no row has anything is left out.

const STEP = 200;
const empty = (text) => text === "" || text === "-" || text === undefined || text === null;
// `how`: { picks: what it can also be filtered by, between: what stands above the rows, follow: told which rows are left }.
function table(place, all, rows, name, how) {
  const { picks, between, follow } = how || {};
  const used = all.filter((c, i) => i === 0 || c.keep || rows.some((row) => !empty(c.text(row))));
  const columns = used.filter((c) => !c.long), below = used.filter((c) => c.long);
  let order = null, down = false, words = "", shown = STEP;
  const texts = rows.map((row) => used.map((c) => String(c.text(row))).join(" ").toLowerCase());
  const choices = (picks || []).map((c) => ({ of: c.of, now: "" }));
  const body = el("tbody"), rest = el("button", { onclick: () => { shown += STEP * 5; draw(); } }), count = el("span", { class: "faint" });
  const heads = columns.map((c, i) => el("th", { "aria-sort": "none" }, el("button", { onclick: () => sort(i) }, c.head)));
  function sort(i) { down = order === i ? !down : false; order = i; draw(); }
  function value(row, c) { const v = c.value ? c.value(row) : c.text(row); return v === undefined || v === null ? "" : v; }
  function chosen() {
    let list = rows.map((_, i) => i);
    if (words) list = list.filter((i) => words.split(/\s+/).every((w) => texts[i].includes(w)));
    for (const c of choices) if (c.now !== "") list = list.filter((i) => String(c.of(rows[i])) === c.now);
    if (order !== null) {
      const c = columns[order], keys = rows.map((r) => value(r, c));
      list.sort((a, b) => { const x = keys[a], y = keys[b];
        if (x === "" || y === "") return (x === "") - (y === "");         // what is absent comes last, both ways
        return (x < y ? -1 : x > y ? 1 : a - b) * (down ? -1 : 1); });
    }
    return list;
  }
  function cell(c, row) {
    const text = c.text(row), act = c.act && c.act(row);
    return el("td", { class: (empty(text) ? "none " : "") + (c.mark ? c.mark(row) : ""), "data-head": c.head }, act ? el("button", { onclick: act }, text) : text);
  }
  // What is long has a line of its own, as wide as the table, so that nothing of it is cut.
  function lines(row) {
    const long = below.filter((c) => !empty(c.text(row)));
    return [el("tr", long.length ? { class: "has" } : {}, ...columns.map((c) => cell(c, row))),
      ...long.map((c) => el("tr", { class: "more" }, el("td", { colspan: columns.length, "data-head": c.head }, c.text(row))))];
  }
  function draw() {
    const list = chosen();
    heads.forEach((h, i) => h.setAttribute("aria-sort", order !== i ? "none" : down ? "descending" : "ascending"));
    body.replaceChildren(...list.slice(0, shown).flatMap((i) => lines(rows[i])));
    if (follow) follow(list.map((i) => rows[i]));
    count.textContent = `${list.length} of ${rows.length}`;
    rest.textContent = `show more (${list.length - shown} hidden)`;
    rest.hidden = list.length <= shown;
  }
  const filter = el("input", { type: "search", placeholder: "filter, e.g. pass softmax", "aria-label": "filter " + name, id: "filter-" + name,
    oninput: (e) => { words = e.target.value.trim().toLowerCase(); shown = STEP; draw(); } });
  const selects = (picks || []).map((c, i) => choice(c, rows, `${c.name}-${name}`, (v) => { choices[i].now = v; shown = STEP; draw(); }));
  if (rows.length > 8 || picks) place.append(el("div", { class: "controls" }, filter, ...selects, count));
  place.append(between || "", el("div", { class: "scroll" }, el("table", { id: "table-" + name, class: columns.length > 3 ? "cards" : "" }, el("thead", {}, el("tr", {}, ...heads)), body)), rest);
  draw();
}

// What a list is filtered by: one of the values that its rows have, or all of them.
function choice(c, rows, id, act) {
  const values = [...new Set(rows.map((r) => String(c.of(r))))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return el("select", { id, "aria-label": c.name, onchange: (e) => act(e.target.value) },
    el("option", { value: "" }, "any " + c.name), ...values.map((v) => el("option", { value: v }, `${c.name} ${v}`)));
}

const mark = (row) => row.ok === undefined ? (row.status === "pass" ? "good" : "") : row.ok ? "good" : "bad";
const verdict = (t) => t.ok ? "pass" : "rejected at " + t.stage;
const title = (t) => `${t.name || "candidate"}${t.label ? " " + t.label : ""}`;

// What is said first of a run or of a suite.
const answerBox = (id, answer, what) => el("div", { class: "answer" + (answer.good ? " better" : ""), id }, el("p", { class: "faint" }, what),
  el("p", { class: "headline" }, answer.headline), el("ul", {}, ...answer.lines.map((line) => el("li", {}, line))));
