// The views that are tables: tasks, cost, findings.

const tasksView = {
  mount(main) {
    const listed = tasksOf(app.doc), rows = app.doc.nodes.map((_, i) => i).filter((i) => app.shown[i] && listed.has(app.doc.nodes[i])), node = (i) => app.doc.nodes[i];
    if (!rows.length) return main.append(el("div", { class: "view" }, el("div", { class: "empty" }, el("h2", {}, "No task passes the filters"), button("Clear the filters", clearFilter))));
    const last = (i) => { const list = node(i).attempts.filter(inBuild); return list[list.length - 1]; };
    const cost = (i) => node(i).attempts.filter(inBuild).reduce((s, a) => a.cost_usd === undefined ? s : (s || 0) + a.cost_usd, undefined);
    const time = (i) => node(i).attempts.filter(inBuild).reduce((s, a) => s + took(a), 0);
    this.grid = grid([
      { name: "State", width: "108px", key: (i) => stateOrder.indexOf(node(i).state || ""), cell: (i) => node(i).state ? chip(node(i).state) : "" },
      { name: "Task", mono: true, width: "minmax(180px, 2fr)", key: (i) => node(i).address, title: (i) => node(i).address, cell: (i) => node(i).address },
      { name: "Why", more: true, width: "minmax(140px, 3fr)", title: (i) => node(i).words, cell: (i) => el("span", { class: "soft" }, (node(i).pinned ? "pinned; " : "") + (node(i).words || "")) },
      { name: "Attempts", num: true, more: true, width: "76px", key: (i) => node(i).attempts.filter(inBuild).length, cell: (i) => { const n = node(i).attempts.filter(inBuild).length; return n ? String(n) : ""; } },
      { name: "Last", more: true, width: "104px", key: (i) => last(i) ? outcome(last(i)) : "", cell: (i) => last(i) ? el("span", { class: "soft" }, outcome(last(i))) : "" },
      { name: "Time", num: true, width: "76px", key: time, cell: (i) => duration(time(i)) },
      { name: "Cost", num: true, more: true, width: "76px", key: (i) => cost(i) === undefined ? -1 : cost(i), cell: (i) => money(cost(i)) },
    ], rows, { label: "Tasks", open: (i) => select(i), sort: this.grid && this.grid.order, current: (i) => i === app.sel });
    main.append(el("div", { class: "view fill" }, this.grid.box));
  },
  draw() { if (this.grid) this.grid.repaint(); },
};

const costView = {
  mount(main) {
    const costs = app.doc.costs || {}, whole = !app.filter.build || app.filter.build === "*" || app.filter.build !== app.doc.build;
    const t = (whole ? costs.all : costs.build) || {}, total = t.total || {};
    const view = el("div", { class: "view pad" });
    main.append(view);
    if (!total.attempts && !total.hits) {
      view.append(el("div", { class: "empty" }, el("h2", {}, "Nothing was spent"), el("p", {}, "No attempt of this " + (whole ? "campaign" : "build") + " is in the ledger.")));
      return;
    }
    const plus = total.tokens_unknown ? "+" : "";
    const card = (value, words) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, words));
    view.append(el("p", { class: "soft small" }, whole ? "All builds of this campaign." : `Build ${app.doc.build} alone.`),
      el("div", { class: "cards" }, card(money(total.cost_usd, total.cost_unknown), "spent"), card(duration(total.duration_ms) || "0s", "of attempts"), card(number(total.attempts), "attempts"),
        card(`${short(total.input_tokens)}${plus} / ${short(total.output_tokens)}${plus}`, "tokens in / out"), card(money(total.saved_usd, total.saved_unknown), `saved by ${count(total.hits, "hit")}`), card(duration(total.saved_ms) || "0s", "time saved")));
    for (const [name, rows] of [["By profile", t.profile], ["By task", t.task]]) view.append(this.table(name, rows || []));
    if (total.cost_unknown || total.tokens_unknown) view.append(el("p", { class: "soft small" }, "A sum that ends in + has a part that no program reported: it is a lower bound."));
  },
  table(name, rows) {
    const most = Math.max(...rows.map((r) => r.cost_usd), 0), longest = Math.max(...rows.map((r) => r.duration_ms), 1);
    const share = (r) => most > 0 ? r.cost_usd / most : r.duration_ms / longest;
    const sorted = [...rows].sort((a, b) => b.cost_usd - a.cost_usd || b.duration_ms - a.duration_ms);
    const tokens = (n, r) => n ? number(n) + (r.tokens_unknown ? "+" : "") : "";
    const cells = (r) => el("tr", {}, el("td", { class: "mono" }, r.name || "commands"), el("td", { class: "num" }, number(r.attempts)), el("td", { class: "num" }, duration(r.duration_ms)),
      el("td", { class: "num" }, money(r.cost_usd, r.cost_unknown)), el("td", {}, el("div", { class: "track" }, el("div", { class: "bar", style: { width: (share(r) * 100).toFixed(1) + "%" } }))),
      el("td", { class: "num" }, tokens(r.input_tokens, r)), el("td", { class: "num" }, tokens(r.output_tokens, r)), el("td", { class: "num" }, r.hits ? number(r.hits) : ""), el("td", { class: "num" }, r.hits ? money(r.saved_usd, r.saved_unknown) : ""));
    return el("div", { class: "card wide" }, el("h2", {}, name), el("table", {}, el("thead", {}, el("tr", {}, ["", "attempts", "time", "cost", most > 0 ? "share of cost" : "share of time", "tokens in", "tokens out", "hits", "saved"].map((h, i) => el("th", { class: i && i !== 4 ? "num" : "" }, h)))), el("tbody", {}, sorted.slice(0, 400).map(cells))),
      sorted.length > 400 && el("p", { class: "soft small" }, `${sorted.length - 400} more; "ufbuild cost" lists all.`));
  },
  draw() {},
};

const findingsView = {
  source: null, open: null,
  sourceOf: (f) => `${app.doc.nodes[f.node].task} · ${f.output}`,

  // Findings go from task to task: hunted, merged, judged. The last list is what a reader wants first.
  sources() {
    const found = new Map();
    for (const f of app.doc.findings || []) {
      const name = this.sourceOf(f), box = app.doc.drawings.nodes.boxes[f.node];
      const s = found.get(name) || found.set(name, { name, n: 0, x: 0 }).get(name);
      s.n++; s.x = Math.max(s.x, box ? box.x : 0);
    }
    return [...found.values()].sort((a, b) => b.x - a.x);
  },

  mount(main) {
    const all = app.doc.findings || [], sources = this.sources();
    const view = el("div", { class: "view fill" });
    main.append(view);
    if (!all.length) {
      view.append(el("div", { class: "empty" }, el("h2", {}, "No findings"), el("p", {}, "A JSON output counts as a list of findings when its entries have a severity and a title, or a title and a place in a file.")));
      return;
    }
    if (this.source === null || !(this.source === "" || sources.some((s) => s.name === this.source))) this.source = sources[0].name;
    const rows = all.filter((f) => app.shown[f.node] && (!this.source || this.sourceOf(f) === this.source));
    const pick = el("select", { "aria-label": "Source of findings", "data-keep": "source", onchange: (e) => { this.source = e.target.value; app.render(); } },
      el("option", { value: "" }, `All lists (${all.length})`), sources.map((s) => el("option", { value: s.name }, `${s.name} (${s.n})`)));
    pick.value = this.source;
    const grades = new Map();
    for (const f of rows) grades.set(f.severity || "none", (grades.get(f.severity || "none") || 0) + 1);
    view.append(el("div", { class: "pad line", style: { paddingTop: "12px", paddingBottom: "12px" } }, pick, [...grades].map(([s, n]) => el("span", { class: "chip plain g-" + gradeOf(rows, s) }, `${s} ${n}`))));
    this.grid = grid([
      { name: "Severity", width: "100px", key: (f) => f.grade, cell: (f) => f.severity ? el("span", { class: "chip plain g-" + f.grade }, f.severity) : "" },
      { name: "Finding", width: "minmax(220px, 4fr)", key: (f) => f.title, title: (f) => f.title, cell: (f) => f.title },
      { name: "Where", mono: true, more: true, width: "minmax(130px, 2fr)", key: (f) => f.where || "", title: (f) => f.where, cell: (f) => f.where || "" },
      { name: "Task", mono: true, more: true, width: "minmax(120px, 1.5fr)", key: (f) => app.doc.nodes[f.node].address, cell: (f) => el("span", { class: "soft" }, `${app.doc.nodes[f.node].address}@${f.n}`) },
    ], rows, { label: "Findings", open: (f) => openFinding(f), sort: this.grid && this.grid.order });
    view.append(el("div", { class: "stage" }, this.grid.box));
  },
  draw() { if (this.grid) this.grid.repaint(); },
};

const gradeOf = (rows, severity) => { const f = rows.find((r) => (r.severity || "none") === severity); return f ? f.grade : 3; };

function openFinding(f) {
  const fields = f.fields || {}, node = app.doc.nodes[f.node];
  const value = (v) => typeof v === "string" ? (v.includes("\n") || v.length > 160 ? el("pre", {}, v) : v) : el("code", {}, JSON.stringify(v, null, 1));
  showDialog([
    el("div", { class: "line" }, f.severity && el("span", { class: "chip plain g-" + f.grade }, f.severity), el("span", { class: "soft mono" }, f.where || "")),
    el("h2", { style: { marginTop: "8px" } }, f.title),
    el("dl", {}, Object.entries(fields).filter(([, v]) => v !== f.title).flatMap(([k, v]) => [el("dt", {}, k.replace(/_/g, " ")), el("dd", {}, value(v))])),
    el("div", { class: "buttons" }, button(`Open ${node.address}`, () => { closeDialog(); select(f.node, f.n, "output:" + f.output); }), button("Close", closeDialog, { class: "primary" })),
  ]);
}

// A dialog takes the focus and gives it back.
function showDialog(content) { const d = $("dialog"); d.replaceChildren(...content); if (!d.open) d.showModal(); }
function closeDialog() { $("dialog").close(); }
