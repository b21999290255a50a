// ---- the page: what is typed is looked at

const saved = JSON.parse($("data").textContent);
let state = null, result = null, tab = "source", gallery = null, heat = "share";
let timer = 0, later = 0, under = null, note = "";

function goTo(m) {
  if ((m.at === "plan") !== (tab === "plan")) openTab(m.at === "plan" ? "plan" : "source");
  editor.go(m.line);
}

const marksOf = (which) => (result && result.marks || []).filter((m) => (m.at === "plan") === (which === "plan"));

function decorate() {
  editor.marks = marksOf(tab);
  editor.heat = tab === "source" && result ? heatOf(result, heat) : new Map();
  editor.draw();
  for (const which of ["source", "plan"]) {
    const count = marksOf(which).filter((m) => m.kind === "fault").length;
    $("tab-" + which).replaceChildren(which === "plan" ? "plan.lua" : "kernel.cu", count ? el("span", { class: "count" }, " \u25cf") : "");
  }
}

function openTab(which) {
  tab = which;
  for (const other of ["source", "plan"]) {
    $("tab-" + other).setAttribute("aria-selected", String(other === which));
    $("tab-" + other).tabIndex = other === which ? 0 : -1;
  }
  editor.open(state[which], which);
  decorate();
}

function show(r) {
  result = r;
  showAnswer(r, false);
  showResults(r);
  decorate();
  document.documentElement.dataset.ready = "yes";
  document.documentElement.dataset.depth = r.depth;
}

function complain(message) {
  $("answer").className = "answer";
  $("headline").textContent = message;
  document.documentElement.dataset.ready = "yes";
}

// ---- asking

async function look(depth) {
  clearTimeout(timer);
  clearTimeout(later);
  if (saved || !state) return;
  if (under) under.abort();
  const mine = under = new AbortController();
  $("answer").classList.add("busy");
  try {
    const r = await ask("POST", "/look/judge", { page, depth, state: portable(state) }, mine.signal);
    if (mine !== under) return;
    show(r);
    if (depth === "quick" && r.verdict !== "wrong") later = setTimeout(() => look("full"), 1500);
  } catch (e) {
    if (mine !== under || e.name === "AbortError" || e.status === 409) return;
    complain(e.status ? e.message : "the server does not answer: is cawb look still running?");
  }
}

async function keepLink() {
  const text = await fragment(state);
  if (location.hash.slice(1) !== text) history.replaceState(null, "", "#" + text);
}

editor.changed = () => {
  state[tab] = editor.text;
  state.edited = true;
  document.documentElement.dataset.ready = "no";
  $("answer").classList.add("busy");
  clearTimeout(timer);
  clearTimeout(later);
  timer = setTimeout(() => { keepLink(); look("quick"); }, 300);
  name();
};
listing.disassemble = async () => {
  try { return await ask("POST", "/look/sass", { state: portable(state) }); } catch (e) { return { no_sass: e.message }; }
};
editor.moved = (line) => { if (tab === "source" && line !== listing.line) lightUp(line); };

// ---- a state

function name() { $("choose").textContent = state.key ? state.key + (state.edited ? ", changed" : "") : "a kernel by link"; }

function showNodes(list) {
  $("nodes").hidden = !list || !list.length;
  if ($("nodes").hidden) return;
  $("nodes").open = list.length <= 6;
  $("nodes").querySelector("summary").textContent = `${list.length} ${list.length === 1 ? "kernel" : "kernels"}, by node of the graph`;
  $("nodes").querySelector("div").replaceChildren(el("table", {}, el("tbody", {}, ...list.map((n) => el("tr", {},
    el("td", {}, n.line ? el("button", { onclick: () => goTo({ at: "kernel", line: n.line }) }, n.name) : n.name), el("td", {}, n.computes), el("td", {}, n.writes))))));
}

function enter(next) {
  state = { ...next, plan: next.plan || "", source: next.source || "" };
  result = null;
  note = next.note || "";
  $("note").hidden = !note;
  $("note").textContent = note;
  $("about").textContent = `task ${state.task}` + (gallery ? `, ${gallery.device}` : saved ? `, ${saved.device}` : "");
  $("results").replaceChildren();
  showNodes(next.nodes);
  name();
  openTab("source");
}

async function enterKey(key) {
  complain("loading " + key + " ...");
  document.documentElement.dataset.ready = "no";
  try { enter(await ask("POST", "/look/item", { key })); } catch (e) { complain(e.message); return; }
  await keepLink();
  await look("quick");
}

async function follow() {
  let m = null;
  try { m = await meant(location.hash.slice(1)); } catch (e) { complain("this link cannot be read: " + e.message); }
  if (m && m.state) { enter(m.state); await look("quick"); } else await enterKey(m && m.key || gallery.first);
}

// ---- gallery, keys, link, export

function fillShelf() {
  const wanted = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (i) => wanted.every((w) => `${i.group} ${i.title} ${i.task} ${i.key}`.toLowerCase().includes(w));
  const groups = new Map();
  for (const i of gallery.items.filter(fits)) groups.set(i.group, [...(groups.get(i.group) || []), i]);
  $("shelf").replaceChildren(...[...groups].flatMap(([group, items]) => [el("h3", {}, group), ...items.map((i) =>
    el("button", { onclick: () => { $("gallery").close(); enterKey(i.key); } }, i.title, el("span", {}, "task " + i.task)))]));
}

function openGallery() {
  if (!gallery) return;
  $("filter").value = "";
  fillShelf();
  $("gallery").showModal();
  $("filter").focus();
}

function walkShelf(e) {
  const all = [...$("shelf").querySelectorAll("button")], at = all.indexOf(document.activeElement);
  if (e.key === "Enter" && at < 0 && all.length) { e.preventDefault(); all[0].click(); return; }
  const next = e.key === "ArrowDown" ? at + 1 : e.key === "ArrowUp" ? at - 1 : null;
  if (next === null) return;
  e.preventDefault();
  (next < 0 ? $("filter") : all[Math.min(next, all.length - 1)]).focus();
}

let told = 0;
function tell(button, text) {
  const before = button.dataset.text = button.dataset.text || button.textContent;
  clearTimeout(told);
  button.textContent = text;
  told = setTimeout(() => { button.textContent = before; }, 1600);
}

async function copyLink() {
  await keepLink();
  try { await navigator.clipboard.writeText(location.href); tell($("link"), "Copied"); } catch (e) { tell($("link"), "It is in the address bar"); }
}

async function save() {
  if (!result) return;
  const file = await exported({ state: { ...portable(state), key: state.key, edited: state.edited, note }, result, device: gallery.device, version: gallery.version });
  const a = el("a", { href: URL.createObjectURL(new Blob([file], { type: "text/html" })), download: `look-${(state.key || state.task).replace(/[^\w]+/g, "-")}.html` });
  a.click();
  tell($("save"), "Saved");
}

const keys = [["Ctrl+Enter", "look at everything now"], ["Tab, Shift+Tab", "indent, outdent"], ["Esc, Tab", "leave the editor"], ["Alt+G", "gallery"], ["Alt+P", "kernel or plan"],
  ["F8, Shift+F8", "next, previous mark"], ["Alt+L", "copy a link"], ["Alt+S", "save as HTML"], ["Alt+K", "these keys; Esc closes"]];

function showKeys() {
  $("keys").replaceChildren(el("h2", {}, "Keys"), el("dl", { class: "facts" }, ...keys.flatMap(([k, text]) => [el("dt", {}, el("kbd", {}, k)), el("dd", {}, text)])),
    el("button", { onclick: () => $("keys").close() }, "Close"));
  $("keys").showModal();
}

function nextMark(way) {
  const list = marksOf(tab).map((m) => m.line).sort((a, b) => a - b), now = editor.line();
  const found = way > 0 ? list.find((l) => l > now) : list.filter((l) => l < now).pop();
  if (list.length) editor.go(found === undefined ? list[way > 0 ? 0 : list.length - 1] : found);
}

const alt = { KeyG: openGallery, KeyP: () => { openTab(tab === "plan" ? "source" : "plan"); $("text").focus(); }, KeyL: copyLink, KeyS: save, KeyK: showKeys };
document.addEventListener("keydown", (e) => {
  if (e.key === "F8") { e.preventDefault(); nextMark(e.shiftKey ? -1 : 1); }
  if ((e.ctrlKey || e.metaKey) && e.key === "Enter") { e.preventDefault(); look("full"); }
  if (e.altKey && !e.ctrlKey && alt[e.code] && state) { e.preventDefault(); alt[e.code](); }
});
$("choose").onclick = openGallery;
$("filter").oninput = fillShelf;
$("gallery").addEventListener("keydown", walkShelf);
$("link").onclick = copyLink;
$("save").onclick = save;
$("help").onclick = showKeys;
$("tab-source").onclick = () => openTab("source");
$("tab-plan").onclick = () => openTab("plan");
for (const which of ["source", "plan"]) {
  $("tab-" + which).onkeydown = (e) => {
    if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
    openTab(tab === "plan" ? "source" : "plan");
    $("tab-" + tab).focus();
  };
}
$("heat").replaceChildren(...Object.entries(kinds).map(([k, v]) => el("option", { value: k }, v.title)));
$("heat").onchange = (e) => { heat = e.target.value; decorate(); };

async function begin() {
  if (saved) {
    for (const id of ["link", "save"]) $(id).hidden = true;
    $("choose").disabled = true;
    $("text").readOnly = true;
    enter({ ...saved.state, nodes: saved.nodes || saved.state.nodes });
    show(saved.result);
    $("about").textContent += `; saved by cawb ${saved.version}, nothing here is looked at again`;
    return;
  }
  try { gallery = await ask("GET", "/look/gallery"); } catch (e) { complain("the server does not answer: is cawb look still running?"); return; }
  window.addEventListener("hashchange", follow);
  await follow();
}
begin();
