// The document, what is chosen and what passes the filters.

const app = {
  doc: null, view: "graph", sel: -1, n: 0, pane: "summary",
  filter: { q: "", states: new Set(), group: "", profile: "", build: "" },
  shown: null,       // by node: passes the filters
  byAddress: new Map(), byTask: new Map(),
  live: false, redraw() {}, // set by main.js
};

const texts = new Map(); // name -> element that holds it
function findTexts() { for (const e of document.querySelectorAll("script[data-text]")) texts.set(e.dataset.text, e); }

// textOf returns a text of an attempt, or null where this page has none.
async function textOf(address, n, what) {
  const held = texts.get(`${address}@${n}/${what}`);
  if (held) return JSON.parse(held.textContent);
  return app.live ? live.get("text", { address, n, what }) : null;
}

function takeDocument(doc) {
  app.doc = doc;
  doc.nodes = doc.nodes || [];
  app.byAddress.clear(); app.byTask.clear();
  doc.nodes.forEach((n, i) => {
    n.attempts = n.attempts || [];
    app.byAddress.set(n.address, i);
    if (!app.byTask.has(n.task)) app.byTask.set(n.task, []);
    app.byTask.get(n.task).push(i);
  });
  app.critical = new Set((doc.critical || {}).nodes || []);
  for (const d of [doc.drawings.tasks, doc.drawings.nodes]) { d.boxes = d.boxes || []; d.lines = d.lines || []; }
  if (app.filter.build === "") app.filter.build = doc.build || "";
  applyFilter();
}

// instancesOf gives the nodes of a task: what stands for those that are not known yet, or else them.
function instancesOf(task) {
  const all = app.byTask.get(task) || [];
  return all.length > 1 ? all.filter((i) => !app.doc.nodes[i].template) : all;
}

// The order in which states matter to a person; a task has the first that one of its instances has.
const stateOrder = ["running", "failed", "waiting", "stale", "paused", "unknown", "cancelled", "skipped", "ran", "fresh", ""];
function stateOfTask(task) {
  let best = stateOrder.length;
  for (const i of instancesOf(task)) {
    const at = stateOrder.indexOf(app.doc.nodes[i].state || "");
    if (at >= 0 && at < best) best = at;
  }
  return stateOrder[best] || "";
}

function applyFilter() {
  const f = app.filter, q = f.q.trim().toLowerCase(), nodes = app.doc.nodes;
  app.shown = new Uint8Array(nodes.length);
  app.filtered = !!(q || f.states.size || f.group || f.profile);
  nodes.forEach((n, i) => {
    app.shown[i] = (!q || n.address.toLowerCase().includes(q) || (n.description || "").toLowerCase().includes(q)) &&
      (!f.states.size || f.states.has(n.state || "")) && (!f.group || n.group === f.group) && (!f.profile || (n.profile || "command") === f.profile) ? 1 : 0;
  });
}

const inBuild = (a) => !app.filter.build || app.filter.build === "*" || a.build === app.filter.build;
const selected = (n) => n.attempts.find((a) => a.selected) || n.attempts[n.attempts.length - 1];
const took = (a) => a.state === "running" ? Date.now() - Date.parse(a.started) : a.duration_ms || 0;
const outcome = (a) => a.outcome || a.state || "";
