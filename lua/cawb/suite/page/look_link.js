// ---- a state as a link: in the URL's fragment, which no server sees. `k=` names one of the gallery's; `s=` is packed, `p=` is not.

const bytesOf = (binary) => Uint8Array.from(binary, (c) => c.charCodeAt(0));
const toLetters = (bytes) => {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};
const fromLetters = (text) => bytesOf(atob(text.replaceAll("-", "+").replaceAll("_", "/")));

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

const kept = ["task", "source", "plan", "family", "defines", "options", "name"];
const portable = (state) => Object.fromEntries(kept.filter((k) => state[k] !== undefined && state[k] !== null).map((k) => [k, state[k]]));

async function fragment(state) {
  if (state.key && !state.edited) return "k=" + encodeURIComponent(state.key);
  const bytes = new TextEncoder().encode(JSON.stringify(portable(state)));
  return window.CompressionStream ? "s=" + toLetters(await through(bytes, new CompressionStream("deflate-raw"))) : "p=" + toLetters(bytes);
}

// What a fragment means: { key } or { state }; null of none. Raises where it cannot be read.
async function meant(text) {
  const [kind, value] = [text.slice(0, 2), text.slice(2)];
  if (kind === "k=") return { key: decodeURIComponent(value) };
  if (kind !== "s=" && kind !== "p=") return null;
  let bytes = fromLetters(value);
  if (kind === "s=") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
  const state = portable(JSON.parse(new TextDecoder().decode(bytes)));
  if (typeof state.task !== "string" || typeof state.source !== "string" || typeof state.plan !== "string") throw new Error("no kernel is in it");
  return { state: { ...state, edited: true } };
}

// ---- the server

const page = Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, "0")).join("");

function askToken() {
  return new Promise((done) => {
    $("token").showModal();
    $("token").onclose = () => {
      sessionStorage.setItem("token", $("secret").value.trim());
      $("secret").value = "";
      done();
    };
  });
}

// Ask the server; JSON back. What it refuses is raised, with its status.
async function ask(method, path, body, signal) {
  for (;;) {
    const headers = {}, token = sessionStorage.getItem("token");
    if (token) headers.Authorization = "Bearer " + token;
    if (body) headers["Content-Type"] = "application/json";
    const reply = await fetch(path, { method, headers, signal, body: body ? JSON.stringify(body) : undefined });
    if (reply.status === 401) { await askToken(); continue; }
    const value = await reply.json();
    if (!reply.ok) throw Object.assign(new Error(value.error || "status " + reply.status), { status: reply.status });
    return value;
  }
}

// The page with this state and its results, for a file: it asks nobody.
async function exported(saved) {
  const text = await (await fetch("/")).text();
  const data = JSON.stringify(saved).replaceAll("<", "\\u003c");
  return text.replace('id="data">null<', () => 'id="data">' + data + "<").replace("connect-src 'self'", "connect-src 'none'");
}
