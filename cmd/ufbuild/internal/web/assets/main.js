// The page: header, tabs, filters, keys, the address, print.

const views = { graph: graphView, timeline: timelineView, tasks: tasksView, cost: costView, findings: findingsView };
const viewNames = { graph: "Graph", timeline: "Timeline", tasks: "Tasks", cost: "Cost", findings: "Findings" };

app.redraw = () => { const v = views[app.view]; if (app.doc && v.draw && v.canvas !== null) v.draw(); };

function renderView() {
  const main = $("main"), again = focusOf(main);
  main.replaceChildren();
  views[app.view].mount(main);
  main.append(el("div", { class: "printed", id: "printed" }));
  again();
}

// render makes the page anew; refresh does so after the document changed, and keeps where the reader is.
app.render = () => {
  const d = app.doc;
  app.groupColors = Object.fromEntries((d.groups || []).filter((g) => g.color).map((g) => [g.name, g.color]));
  renderHeader(); renderTabs(); renderFilters(); renderView();
};
app.refresh = later(() => {
  const v = views[app.view], scroll = v.grid && v.grid.scroll, mainScroll = $("main").scrollTop;
  const stays = v.canvas && !app.reshaped && (app.view === "graph" || v.renew()); // a canvas that is dragged stays in the page
  app.reshaped = false;
  if (stays) { renderHeader(); renderTabs(); renderFilters(); return app.redraw(); }
  const held = document.activeElement && document.activeElement.dataset.at;
  app.render();
  if (v.grid && scroll) v.grid.scroll = scroll;
  $("main").scrollTop = mainScroll;
  if (held && v.grid) { v.grid.repaint(); const again = document.querySelector(`.row[data-at="${held}"]`); if (again) again.focus({ preventScroll: true }); }
});

// tasksOf gives the nodes that "status" lists: a task that expands is its instances, once it has some.
function tasksOf(d) {
  const expanded = new Set(d.nodes.filter((n) => !n.template).map((n) => n.task));
  return new Set(d.nodes.filter((n) => !(n.template && expanded.has(n.task))));
}

function renderHeader() {
  const d = app.doc, states = new Map();
  for (const n of d.nodes) if (!(n.template && n.state === "")) states.set(n.state || "", (states.get(n.state || "") || 0) + 1);
  $("campaign").textContent = d.campaign || "campaign";
  const b = (d.builds || []).find((x) => x.id === d.build), parts = [d.description, count(tasksOf(d).size, "task")];
  if (d.building) parts.push(`${d.building.verb} by ${d.building.who} since ${clock(d.building.started)}`);
  else if (b) parts.push(`build ${when(b.started)} by ${b.who}` + (real(b.ended) ? `, ${duration(Date.parse(b.ended) - Date.parse(b.started)) || "0s"}` : ""));
  const total = ((d.costs || {}).build || {}).total;
  if (total && total.cost_usd) parts.push(money(total.cost_usd, total.cost_unknown));
  $("subtitle").textContent = parts.filter(Boolean).join(" · ");
  const list = [...states].filter(([s]) => s).sort((x, y) => stateOrder.indexOf(x[0]) - stateOrder.indexOf(y[0]));
  const again = focusOf($("states"));
  $("states").replaceChildren(...list.map(([s, n]) => button(`${s} ${n}`, () => toggleState(s), { class: "chip s-" + tone(s), "aria-pressed": String(app.filter.states.has(s)), "data-keep": s })));
  again();
  $("notes").replaceChildren(...[app.trouble, ...(d.notes || [])].filter(Boolean).map((n) => el("p", { class: "note" }, n)));
  document.title = `${d.campaign} · ufbuild`;
}

// renderTabs leaves the buttons in the page: one of them may be pressed just now.
function renderTabs() {
  const d = app.doc, attempts = d.nodes.reduce((s, n) => s + n.attempts.length, 0);
  const counts = { tasks: tasksOf(d).size, findings: (d.findings || []).length };
  const shown = d.kind === "graph" ? ["graph", "tasks"] : Object.keys(views), tabs = $("tabs");
  tabs.onkeydown = tabKeys;
  if (tabs.children.length !== shown.length) tabs.replaceChildren(...shown.map((v) => button("", () => show(v), { role: "tab", id: "tab-" + v, "aria-controls": "main" })));
  for (const v of shown) {
    const tab = $("tab-" + v), n = String(counts[v] || 0);
    if (tab.dataset.n !== n) { tab.dataset.n = n; tab.replaceChildren(viewNames[v], counts[v] ? el("span", { class: "count" }, number(counts[v])) : ""); }
    tab.setAttribute("aria-selected", String(v === app.view)); tab.tabIndex = v === app.view ? 0 : -1;
    if (v === "timeline") tab.title = count(attempts, "attempt");
  }
}

// tabKeys moves along a list of tabs.
function tabKeys(e) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  const tabs = [...e.currentTarget.querySelectorAll('[role="tab"]')], next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
  e.preventDefault(); next.focus(); next.click();
}

function show(view) { app.view = view; app.render(); saveHash(); }

const typed = later(() => setFilter({}));

// isOpen reports whether a person chooses from a list just now; a browser that does not tell may have it open.
function isOpen(list) {
  if (list !== document.activeElement) return false;
  try { return list.matches(":open"); } catch { return true; }
}

// renderFilters takes nothing from who types or chooses.
function renderFilters() {
  const d = app.doc, f = app.filter;
  const fill = (id, first, options, value, on) => {
    const s = $(id);
    s.classList.toggle("set", !!value && id !== "build"); s.onchange = () => on(s.value);
    s.onblur = isOpen(s) ? renderFilters : null;
    if (s.onblur) return;
    s.replaceChildren(el("option", { value: "" }, first), ...options.map(([v, words]) => el("option", { value: v }, words)));
    s.value = value; s.hidden = options.length === 0;
  };
  fill("group", "All groups", (d.groups || []).map((g) => [g.name, g.label || g.name]), f.group, (group) => setFilter({ group }));
  const profiles = [...new Set(d.nodes.map((n) => n.profile || "command"))].sort();
  fill("profile", "All profiles", d.kind === "graph" || profiles.length < 2 ? [] : profiles.map((p) => [p, p]), f.profile, (profile) => setFilter({ profile }));
  fill("build", "All builds", buildsByName(d), f.build === "*" ? "" : f.build, (build) => setFilter({ build: build || "*" }));
  const q = $("search");
  if (q.value !== f.q) q.value = f.q;
  q.oninput = () => { f.q = q.value; typed(); };
  $("clear").hidden = !app.filtered; $("clear").onclick = clearFilter;
}

// buildsByName lists builds, newest first. What sets those of one second apart is their id.
function buildsByName(d) {
  const builds = [...(d.builds || [])].reverse(), name = (b) => `${when(b.started)} ${b.who}`, alike = new Map();
  for (const b of builds) alike.set(name(b), (alike.get(name(b)) || 0) + 1);
  return builds.map((b) => [b.id, name(b) + (alike.get(name(b)) > 1 ? " " + b.id.split("-").pop() : "") + (b.id === d.build ? " ·" : "")]);
}

function setFilter(change) {
  Object.assign(app.filter, change);
  applyFilter(); app.render(); saveHash();
}
function toggleState(s) { const states = new Set(app.filter.states); if (!states.delete(s)) states.add(s); setFilter({ states }); }
function clearFilter() { setFilter({ q: "", states: new Set(), group: "", profile: "" }); }

// The address holds what is looked at, so that it can be sent to somebody.
function saveHash() {
  const p = new URLSearchParams(), f = app.filter, node = app.doc.nodes[app.sel];
  if (app.view !== "graph") p.set("view", app.view);
  if (node) { p.set("task", node.address); p.set("n", app.n); if (app.pane !== "summary") p.set("pane", app.pane); }
  if (f.q) p.set("q", f.q);
  if (f.states.size) p.set("state", [...f.states].join(","));
  for (const k of ["group", "profile"]) if (f[k]) p.set(k, f[k]);
  if (f.build && f.build !== app.doc.build) p.set("build", f.build);
  history.replaceState(null, "", "#" + p.toString());
}
function takeHash() {
  const p = new URLSearchParams(location.hash.slice(1)), f = app.filter;
  if (views[p.get("view")]) app.view = p.get("view");
  f.q = p.get("q") || ""; f.group = p.get("group") || ""; f.profile = p.get("profile") || "";
  f.states = new Set((p.get("state") || "").split(",").filter(Boolean));
  if (p.get("build")) f.build = p.get("build");
  applyFilter();
  const i = app.byAddress.get(p.get("task"));
  if (i !== undefined) { app.sel = i; app.n = +p.get("n") || 0; app.pane = p.get("pane") || "summary"; }
}

document.addEventListener("keydown", (e) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.key === "Escape" && !$("dialog").open) { if (typing && e.target.value && e.target.id === "search") setFilter({ q: "" }); else if (typing) e.target.blur(); else if (app.sel >= 0) { select(-1); const c = document.querySelector("#main canvas, #main .row"); if (c) c.focus(); } }
  if (typing || e.ctrlKey || e.metaKey || e.altKey || $("dialog").open) return;
  if (e.key === "/") { e.preventDefault(); $("search").focus(); $("search").select(); }
  const view = Object.keys(views)["12345".indexOf(e.key)];
  if (view && $("tab-" + view)) show(view);
});

// For paper everything stands on one page after the other: what canvases show as pictures, what tables show whole.
function printPage() {
  const out = $("printed"), was = app.view, picture = (view, h) => {
    const c = document.createElement("canvas"), size = { w: 1400, h, dpr: 2 }, held = { size: view.size, ctx: view.ctx, at: view.at, canvas: view.canvas, range: view.range, top: view.top, moved: view.moved };
    c.width = size.w * 2; c.height = h * 2;
    Object.assign(view, { size, ctx: c.getContext("2d"), canvas: c, range: null, top: 0 });
    if (view.fit) view.fit();
    app.view = view === graphView ? "graph" : "timeline"; view.paint();
    Object.assign(view, held); app.view = was;
    return el("img", { src: c.toDataURL("image/png"), alt: "" });
  };
  if (!graphView.by) graphView.by = app.doc.nodes.length > 150 ? "tasks" : "nodes";
  const d = graphView.drawing(), source = findingsView.source === null ? (findingsView.sources()[0] || {}).name : findingsView.source;
  out.replaceChildren();
  if (d.boxes.length) out.append(el("section", {}, el("h2", {}, "Graph"), picture(graphView, Math.max(160, Math.min(1400, 1400 * d.height / d.width + 70)))));
  if (app.doc.kind !== "graph" && timelineView.gather().length) out.append(el("section", {}, el("h2", {}, "Timeline"), picture(timelineView, Math.min(1800, 60 + timelineView.lanes * laneHeight))));
  const listed = tasksOf(app.doc), rows = app.doc.nodes.filter((n, i) => app.shown[i] && listed.has(n)).slice(0, 3000);
  out.append(el("section", {}, el("h2", {}, "Tasks"), el("table", {}, el("tbody", {}, rows.map((n) => el("tr", {}, el("td", {}, n.state && chip(n.state)), el("td", { class: "mono" }, n.address), el("td", {}, n.words || ""), el("td", { class: "num" }, duration(n.attempts.filter(inBuild).reduce((s, a) => s + took(a), 0)))))))));
  if (app.doc.kind !== "graph") { const s = el("section", {}, el("h2", {}, "Cost")); costView.mount(s); s.firstChild.nextSibling.className = ""; out.append(s); }
  const found = (app.doc.findings || []).filter((f) => app.shown[f.node] && (!source || findingsView.sourceOf(f) === source)).slice(0, 2000);
  if (found.length) out.append(el("section", {}, el("h2", {}, "Findings"), el("table", {}, el("tbody", {}, found.map((f) => el("tr", {}, el("td", {}, el("span", { class: "chip plain g-" + f.grade }, f.severity || "")), el("td", {}, f.title), el("td", { class: "mono" }, f.where || "")))))));
}
addEventListener("beforeprint", () => {
  const held = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light"; readPalette(); palette.bg = "#ffffff";
  printPage();
  if (held) document.documentElement.dataset.theme = held; else delete document.documentElement.dataset.theme;
  readPalette(); app.redraw();
});
addEventListener("afterprint", () => $("printed").replaceChildren());

function boot() {
  takeHash();
  setTheme(store.get("theme") || "");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(store.get("theme") || ""));
  $("undo").onclick = () => live.undo();
  $("make").onclick = () => live.build([]); $("hold").onclick = () => live.hold(); $("halt").onclick = () => live.halt();
  app.render(); renderDetail();
  app.booted = true;
}

const held = $("document");
if (held) { findTexts(); takeDocument(JSON.parse(held.textContent)); boot(); } else live.start();
