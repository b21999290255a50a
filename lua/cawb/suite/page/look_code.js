// The page of `cawb look`: source left, results right. This file is the editor: a textarea over painted text, with line numbers, heat
// and marks beside it. Texts come into the page as text only.
"use strict";
const $ = (id) => document.getElementById(id);

function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) e[key] = value; else if (value !== null && value !== undefined) e.setAttribute(key, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// ---- words of CUDA and Lua, as pairs of a class and a text

const words = (text) => new Set(text.split(" "));
const languages = {
  source: { comment: /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/y, string: /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/y, number: /(?:0[xX][\da-fA-F']+|\d[\d']*\.?\d*(?:[eE][-+]?\d+)?)[fFuUlL]*/y,
    name: /#?[A-Za-z_]\w*/y,
    k: words("if else for while do return break continue switch case default template typename struct class using namespace constexpr const static inline extern asm volatile "
      + "#define #include #ifdef #ifndef #endif #if #else #pragma #undef __global__ __device__ __host__ __shared__ __restrict__ __constant__ __launch_bounds__ __forceinline__ __noinline__ union enum sizeof"),
    t: words("void int unsigned float double char short long bool half __half __half2 float2 float4 int2 int4 uint2 uint4 size_t uint32_t uint64_t int32_t int64_t auto "
      + "threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __shfl_sync __shfl_xor_sync __shfl_down_sync __nv_bfloat16 true false nullptr") },
  plan: { comment: /--\[\[[^]*?(?:\]\]|$)|--[^\n]*/y, string: /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/y, number: /0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?/y, name: /[A-Za-z_]\w*/y,
    k: words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while"),
    t: words("launch inputs outputs params scratch tunables memset copy assert math gemm conv prepare") },
};

function tokens(text, language) {
  const l = languages[language], list = [];
  let at = 0, plain = 0;
  const take = (kind, pattern) => {
    pattern.lastIndex = at;
    const m = pattern.exec(text);
    if (!m || !m[0]) return false;
    if (plain < at) list.push(["", text.slice(plain, at)]);
    list.push([typeof kind === "string" ? kind : kind(m[0]), m[0]]);
    plain = at += m[0].length;
    return true;
  };
  while (at < text.length) {
    if (!(take("c", l.comment) || take("s", l.string) || take((w) => l.k.has(w) ? "k" : l.t.has(w) ? "t" : "", l.name) || take("n", l.number))) at++;
  }
  if (plain < at) list.push(["", text.slice(plain)]);
  return list;
}

// The tokens line by line.
function painted(text, language) {
  const lines = [[]];
  for (const [kind, words_] of tokens(text, language)) {
    words_.split("\n").forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part) lines[lines.length - 1].push(kind ? el("span", { class: kind }, part) : part);
    });
  }
  return lines;
}

// ---- the editor

const ROW = 20, LONGEST = 60000;      // characters beyond which words have no colours
const editor = {
  language: "source", marks: [], heat: new Map(), changed: () => {}, moved: () => {},
  get text() { return $("text").value; },

  open(text, language) {
    this.language = language;
    $("text").value = text;
    $("text").setAttribute("aria-label", language === "plan" ? "plan.lua" : "kernel.cu");
    $("text").setSelectionRange(0, 0);
    $("text").scrollTop = $("text").scrollLeft = 0;
    this.draw();
  },

  draw() {
    const text = this.text, worst = new Map();
    for (const m of this.marks) if (!worst.has(m.line) || m.kind === "fault") worst.set(m.line, m);
    const lines = text.length > LONGEST ? text.split("\n").map((t) => [t]) : painted(text, this.language);
    $("paint").replaceChildren(...lines.map((parts, i) => {
      const m = worst.get(i + 1);
      return el("span", { class: "l" + (m ? " " + m.kind : "") }, ...(parts.length ? parts : ["\u200b"]), m ? el("em", {}, "\u25c2 " + m.text.slice(0, 160)) : null);
    }));
    const inner = el("div");
    lines.forEach((_, i) => inner.append(this.number(i + 1, worst.get(i + 1))));
    $("gutter").replaceChildren(inner);
    this.scrolled();
    this.caret();
  },

  number(n, m) {
    const h = this.heat.get(n);
    const cell = el("i", h ? { title: h.title } : {}, h ? h.text : "");
    if (h) cell.style.background = `rgba(var(--hot), ${(0.08 + 0.72 * h.share).toFixed(3)})`;
    return el("div", { class: "no" + (m ? " " + m.kind : "") }, el("b", {}, m ? "\u25cf" : ""), cell, el("u", {}, String(n)));
  },

  scrolled() {
    const t = $("text");
    $("paint").style.transform = `translate(${-t.scrollLeft}px, ${-t.scrollTop}px)`;
    if ($("gutter").firstChild) $("gutter").firstChild.style.transform = `translateY(${-t.scrollTop}px)`;
  },

  line() { return this.text.slice(0, $("text").selectionStart).split("\n").length; },

  caret() {
    const now = this.line(), rows = $("gutter").firstChild ? $("gutter").firstChild.children : [];
    for (const row of $("gutter").querySelectorAll(".here")) row.classList.remove("here");
    if (rows[now - 1]) rows[now - 1].classList.add("here");
    this.moved(now);
  },

  // Put the caret at the beginning of a line, in sight.
  go(line) {
    const before = this.text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0), t = $("text");
    t.focus({ preventScroll: true });
    t.setSelectionRange(before, before);
    t.scrollTop = Math.max(0, (line - 1) * ROW - t.clientHeight / 3);
    this.scrolled();
    this.caret();
  },

  // Insert text where the caret is, so that it can be undone.
  type(text) {
    const t = $("text");
    if (!document.execCommand || !document.execCommand("insertText", false, text)) t.setRangeText(text, t.selectionStart, t.selectionEnd, "end");
  },

  key(e) {
    const t = $("text");
    if (t.readOnly || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") { this.leaving = true; return; }            // then Tab leaves the editor
    if (e.key === "Tab" && !this.leaving) {
      e.preventDefault();
      if (e.shiftKey || t.selectionStart !== t.selectionEnd) this.indent(e.shiftKey ? -1 : 1); else this.type("  ");
    }
    if (e.key === "Enter") {
      const line = t.value.slice(0, t.selectionStart).split("\n").pop();
      e.preventDefault();
      this.type("\n" + /^\s*/.exec(line)[0] + (/\{\s*$/.test(line) ? "  " : ""));
    }
    this.leaving = false;
  },

  indent(way) {
    const t = $("text"), from = t.value.lastIndexOf("\n", t.selectionStart - 1) + 1, to = t.selectionEnd;
    const lines = t.value.slice(from, to).split("\n").map((l) => way > 0 ? "  " + l : l.replace(/^ {1,2}|^\t/, ""));
    t.setSelectionRange(from, to);
    this.type(lines.join("\n"));
    t.setSelectionRange(from, from + lines.join("\n").length);
  },
};

$("text").addEventListener("scroll", () => editor.scrolled());
$("text").addEventListener("keydown", (e) => editor.key(e));
$("text").addEventListener("input", () => { editor.draw(); editor.changed(); });
document.addEventListener("selectionchange", () => { if (document.activeElement === $("text")) editor.caret(); });
