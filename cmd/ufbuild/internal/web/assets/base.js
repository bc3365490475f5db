// Small tools: elements, words for numbers, messages. Text is only ever put in as text.

function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "class") e.className = v;
    else if (k === "style") Object.assign(e.style, v); // by property: the policy allows no style attribute
    else e.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined && c !== false) e.append(c);
  return e;
}
const $ = (id) => document.getElementById(id);
const button = (words, onclick, props) => el("button", { type: "button", onclick, ...props }, words);
const chip = (state) => el("span", { class: "chip s-" + tone(state) }, state);

function duration(ms) {
  if (!ms) return "";
  if (ms < 1000) return ms + "ms";
  if (ms < 60000) return (ms / 1000).toFixed(1) + "s";
  const s = Math.round(ms / 1000), h = Math.floor(s / 3600), m = Math.floor((s % 3600) / 60);
  return h ? `${h}h${String(m).padStart(2, "0")}m` : `${m}m${String(s % 60).padStart(2, "0")}s`;
}
function money(usd, unknown) {
  if (usd === undefined || usd === null) return "";
  const small = usd !== 0 && Math.abs(usd) < 1; // as the terminal writes it
  const text = usd > 0 && usd < 0.00005 ? "<$0.0001" : "$" + (small ? usd.toFixed(4).replace(/0{1,2}$/, "") : usd.toFixed(2));
  return text + (unknown ? "+" : "");
}
function bytes(n = 0) { // the document leaves out what is 0
  if (n < 1024) return n + " B";
  for (const unit of ["KiB", "MiB", "GiB"]) { n /= 1024; if (n < 1024 || unit === "GiB") return n.toFixed(n < 10 ? 1 : 0) + " " + unit; }
}
const number = (n) => (n || 0).toLocaleString("en");
const short = (n) => (n || 0) < 10000 ? number(n) : Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(n);
const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
const real = (t) => t && !t.startsWith("0001"); // Go's zero time
const when = (t) => real(t) ? new Date(t).toLocaleString("sv") : "";
const clock = (t) => real(t) ? new Date(t).toLocaleTimeString("sv") : "";

function toast(words, bad) {
  const t = el("div", { class: "toast" + (bad ? " bad" : ""), role: bad ? "alert" : null }, words);
  $("toasts").append(t);
  setTimeout(() => t.remove(), bad ? 12000 : 6000);
}

// focusOf returns what gives the focus back, once a box was filled anew, to the element with the same data-keep.
function focusOf(box) {
  const e = document.activeElement, kept = e && box.contains(e) ? e.dataset.keep : null;
  return () => { const again = kept && box.querySelector(`[data-keep="${CSS.escape(kept)}"]`); if (again) again.focus({ preventScroll: true }); };
}

// later gathers calls into one for each frame.
function later(f) {
  let asked = false;
  return () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; f(); }); } };
}

// store keeps what a reader chose; a browser may refuse to.
const store = {
  get(k) { try { return localStorage.getItem("ufbuild." + k); } catch { return null; } },
  set(k, v) { try { localStorage.setItem("ufbuild." + k, v); } catch { /* as if it was not chosen */ } },
};

// The colours of the style sheet, for canvases.
let palette = {};
function readPalette() {
  const css = getComputedStyle(document.documentElement);
  palette = {};
  for (const n of ["bg", "panel", "sunk", "ink", "soft", "line", "strong", "accent", "accent-soft", "on-accent", "fresh", "fresh-bg", "failed", "failed-bg", "stale", "stale-bg", "running", "running-bg", "waiting", "waiting-bg", "idle", "idle-bg", "mono"])
    palette[n] = css.getPropertyValue("--" + n).trim();
}
// The tone of a state, an outcome or a verdict: green, red, amber, …
const tones = { fresh: "fresh", ran: "fresh", ok: "fresh", failed: "failed", rejected: "failed", refused: "failed", stalled: "failed", infra: "failed", "timed out": "failed", account: "stale", "rate limited": "stale", "over budget": "stale", stale: "stale", partial: "stale", pass: "fresh", fail: "failed", inconclusive: "stale", running: "running", queued: "running", waiting: "waiting", paused: "waiting" };
const tone = (state) => tones[state] || "idle";

function setTheme(t) {
  if (t) document.documentElement.dataset.theme = t; else delete document.documentElement.dataset.theme;
  const dark = t ? t === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  $("theme").textContent = dark ? "Light" : "Dark";
  $("theme").onclick = () => { const next = dark ? "light" : "dark"; store.set("theme", next); setTheme(next); };
  readPalette();
  app.redraw();
}

// canvasOf keeps a canvas as large as its stage, in device pixels. A canvas of a new size is black, so it is painted at
// once: the next frame would be too late.
function canvasOf(stage, props, paint) {
  const canvas = el("canvas", { tabindex: "0", "data-keep": "canvas", ...props });
  const ctx = canvas.getContext("2d", { alpha: false });
  stage.append(canvas);
  const size = { w: 0, h: 0, dpr: 1 };
  const fit = () => {
    size.w = stage.clientWidth; size.h = stage.clientHeight; size.dpr = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.max(1, size.w * size.dpr); canvas.height = Math.max(1, size.h * size.dpr);
    canvas.style.width = size.w + "px"; canvas.style.height = size.h + "px";
    paint();
  };
  new ResizeObserver(fit).observe(stage);
  return { canvas, ctx, size };
}

// drags turns pointer moves into pans and short ones into clicks.
function drags(canvas, { move, hover, click, leave }) {
  let from = null, moved = false;
  canvas.addEventListener("pointerdown", (e) => { from = [e.offsetX, e.offsetY]; moved = false; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    if (!from) return hover(e.offsetX, e.offsetY);
    const dx = e.offsetX - from[0], dy = e.offsetY - from[1];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true; canvas.classList.add("grabbing"); from = [e.offsetX, e.offsetY]; move(dx, dy);
  });
  const end = (e) => { canvas.classList.remove("grabbing"); if (from && !moved && e.type === "pointerup") click(e.offsetX, e.offsetY); from = null; };
  canvas.addEventListener("pointerup", end); canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", leave);
}
