// Of the page of `cawb report`: what a run's model and its tools said to each other. What page.js has is known here.

const LINES_OPEN = 12;         // a longer text is closed until it is asked for
function said(text, what, code) {
  const lines = text.split("\n");
  if (lines.length <= LINES_OPEN && text.length < 1200) return code ? el("pre", {}, what + (lines.length > 1 ? "\n" : "") + text) : el("p", { class: "said" }, what + text);
  return el("details", {}, el("summary", {}, `${what}${lines[0].slice(0, 90)} (${lines.length} lines)`), el("pre", {}, text));
}

// A call of a tool: short arguments in its line, a file's text below it.
function callBox(call) {
  const short = call.arguments.filter(([, v]) => v.length <= 80 && !v.includes("\n")), long = call.arguments.filter((a) => !short.includes(a));
  return el("div", { class: "call" }, el("p", {}, el("b", {}, call.name), " ", short.map(([k, v]) => `${k}: ${v}`).join(", ")), ...long.map(([k, v]) => said(v, k + ": ", true)));
}

const costWords = (m) => [m.tokens && `${m.tokens[0]} tokens in, ${m.tokens[1]} out`, m.dollars && `$${m.dollars.toFixed(4)}`, m.seconds && `${m.seconds.toFixed(1)} s`].filter(Boolean).join(", ");

// The turn that a message tells of, as a way to it.
function turnWay(run, m) {
  const t = run.turns.find((o) => o.n === m.turn);
  if (!t) return null;
  return el("button", { class: "way " + mark(t), onclick: () => { const box = $("turn-" + t.n); if (box) { box.open = true; box.scrollIntoView(); } } },
    `turn ${t.n}: ${verdict(t)}${t.reward === undefined ? "" : ", reward " + +t.reward.toPrecision(3)}`);
}

function messageBox(run, m) {
  const who = m.role === "tool" ? `tool ${m.name || ""}${m.failed ? ", failed" : ""}` : m.role === "record" ? m.name : m.role;
  const box = el("article", { class: "message " + m.role + (m.failed ? " failed" : "") }, el("p", { class: "who" }, who, " ", el("span", { class: "faint" }, costWords(m)), " ", turnWay(run, m)));
  if (m.reasoning) box.append(said(m.reasoning, "reasoning: "));
  if (m.text) box.append(m.role === "system" ? el("details", {}, el("summary", {}, "what it was told at the beginning"), el("pre", {}, m.text)) : said(m.text, "", m.role === "tool" && m.text.includes("\n")));
  for (const call of m.calls || []) box.append(callBox(call));
  return box;
}

const MESSAGES = 60;
function showTalk(place, run) {
  const all = run.talk || [], chats = [...new Set(all.map((m) => m.chat).filter((c) => c !== undefined))];
  if (!all.some((m) => m.role !== "record")) return;
  let shown = MESSAGES, only = "";
  const list = el("div", { id: "talk" }), more = el("button", { onclick: () => { shown += 5 * MESSAGES; draw(); } });
  const draw = () => {
    const chosen = all.filter((m) => only === "" || String(m.chat) === only);
    list.replaceChildren(...chosen.slice(0, shown).map((m) => messageBox(run, m)));
    more.textContent = `show more (${chosen.length - shown} hidden)`;
    more.hidden = chosen.length <= shown;
  };
  place.append(el("h2", {}, "Conversation"));
  if (chats.length > 1) place.append(choice({ name: "conversation", of: (m) => m.chat }, all.filter((m) => m.chat !== undefined), "chat", (v) => { only = v; shown = MESSAGES; draw(); }));
  place.append(list, more);
  if (run.untold) place.append(el("p", { class: "faint" }, `${run.untold} more have no room on this page; cawb export --trajectory has them.`));
  draw();
}
