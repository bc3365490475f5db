// The graph: pan, zoom, groups, states. It is drawn from the places that ufbuild worked out.

const readable = 0.85; // the smallest scale at which names are read with ease

const graphView = {
  by: "", // "tasks" or "nodes"
  at: { x: 0, y: 0, k: 1 }, hover: -1,
  moved: false, whole: false, // by the reader, so that a new size leaves it; who asked for all of it has all of it in the new size, too

  mount(main) {
    const d = app.doc;
    if (!this.by) this.by = d.by || (d.nodes.length > 150 || !d.nodes.length ? "tasks" : "nodes");
    if (!d.drawings.tasks.boxes.length && !d.drawings.nodes.boxes.length) {
      this.canvas = null;
      return main.append(el("div", { class: "view" }, el("div", { class: "empty" }, el("h2", {}, "No tasks"), el("p", {}, "This campaign declares none."))));
    }
    const stage = el("div", { class: "stage" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.shot = null;
    this.draw = later(() => this.paint());
    Object.assign(this, canvasOf(stage, { role: "img", "aria-label": `Graph of ${count(d.nodes.length, "task")}. The Tasks view lists the same. Arrow keys move, plus and minus zoom, 0 shows all.`, id: "graph" }, () => { if (!this.moved) this.fit(); this.paint(); }));
    const by = (name, words) => button(words, () => { this.by = name; this.fit(); app.render(); }, { "aria-pressed": String(this.by === name), "data-keep": "by" + name });
    stage.append(this.tip, this.legend(), el("div", { class: "corner", role: "group", "aria-label": "Graph" },
      d.drawings.tasks.boxes.length !== d.drawings.nodes.boxes.length && [by("tasks", "Tasks"), by("nodes", "Instances")],
      button("−", () => this.zoom(1 / 1.3), { "aria-label": "Zoom out" }), button("+", () => this.zoom(1.3), { "aria-label": "Zoom in" }), button("Fit", () => { this.showAll(); this.draw(); })));
    main.append(el("div", { class: "view fill" }, stage));
    this.listen();
  },

  legend() {
    const of = (g) => button([el("span", { class: "swatch", style: { background: g.color || "" } }), g.label || g.name],
      () => setFilter({ group: app.filter.group === g.name ? "" : g.name }), { "aria-pressed": String(app.filter.group === g.name), "data-keep": "group" + g.name });
    const groups = app.doc.groups || [];
    return groups.length > 0 && el("div", { class: "legend", role: "group", "aria-label": "Groups" }, groups.slice(0, 14).map(of));
  },

  listen() {
    const c = this.canvas;
    c.addEventListener("wheel", (e) => { e.preventDefault(); this.zoom(Math.exp(-e.deltaY * (e.ctrlKey ? 0.01 : 0.0016)), e.offsetX, e.offsetY); }, { passive: false });
    drags(c, {
      move: (dx, dy) => { this.moving(); this.at.x += dx; this.at.y += dy; this.draw(); },
      hover: (x, y) => this.point(x, y),
      click: (x, y) => this.choose(this.hit(x, y)),
      leave: () => this.point(-1e6, -1e6),
    });
    c.addEventListener("dblclick", (e) => this.zoom(1.8, e.offsetX, e.offsetY));
    c.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
      if (step) { this.moving(); this.at.x += step[0]; this.at.y += step[1]; }
      else if (e.key === "+" || e.key === "=") this.zoom(1.3);
      else if (e.key === "-") this.zoom(1 / 1.3);
      else if (e.key === "0") this.showAll();
      else return;
      e.preventDefault(); this.draw();
    });
  },

  drawing() { return app.doc.drawings[this.by]; },

  // fit shows all of the graph where its names can be read then, or where it is so large that nothing else makes
  // sense. Between the two, as on a telephone, it shows a part by its names: the chosen task or the beginning.
  fit() {
    this.fitAll();
    const d = this.drawing(), { w, h } = this.size || {}, k = readable;
    if (!w || !d || this.whole || this.at.k >= k || d.width * k > 5 * w || d.height * k > 3 * h) return;
    const b = app.sel < 0 ? null : d.boxes[this.boxOf(app.sel)], off = (size, room, middle) => size <= room ? (room - size) / 2 : Math.min(10, Math.max(room - size - 10, room / 2 - middle));
    this.at = { k, x: off(d.width * k, w, b ? (b.x + b.w / 2) * k : 0), y: off(d.height * k, h - 50, b ? (b.y + b.h / 2) * k : 0) };
  },

  fitAll() {
    const d = this.drawing(), { w, h } = this.size || {};
    if (!w || !d) return;
    const k = Math.min(w / (d.width + 20), (h - 60) / (d.height + 20), 1.4);
    this.at = { k, x: (w - d.width * k) / 2, y: Math.max(10, (h - 50 - d.height * k) / 2) };
    this.moved = false; this.shot = null;
  },

  showAll() { this.whole = true; this.fitAll(); },

  zoom(by, x = this.size.w / 2, y = this.size.h / 2) {
    const k = Math.min(3, Math.max(0.02, this.at.k * by)), r = k / this.at.k;
    this.moving();
    this.at = { k, x: x - (x - this.at.x) * r, y: y - (y - this.at.y) * r };
    this.draw();
  },

  // moving keeps a picture of a large graph while the reader moves: frames show it moved and scaled, and the graph
  // itself again once it rests or the picture is too far off.
  moving() {
    this.moved = true; this.whole = false;
    if (this.drawing().lines.length < 1500) return;
    const far = this.shot && (Math.abs(Math.log(this.at.k / this.shot.at.k)) > 0.7 || Math.abs(this.at.x - this.shot.at.x) > this.size.w || Math.abs(this.at.y - this.shot.at.y) > this.size.h);
    if (far) { this.shot = null; this.paint(); }
    if (!this.shot) {
      const image = document.createElement("canvas");
      image.width = this.canvas.width; image.height = this.canvas.height;
      image.getContext("2d", { alpha: false }).drawImage(this.canvas, 0, 0);
      this.shot = { image, at: { ...this.at } };
    }
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.shot = null; this.draw(); }, 140);
  },

  paintShot() {
    const { ctx, size, shot } = this, r = this.at.k / shot.at.k;
    ctx.drawImage(shot.image, this.at.x - shot.at.x * r, this.at.y - shot.at.y * r, size.w * r, size.h * r);
  },

  hit(px, py) {
    const x = (px - this.at.x) / this.at.k, y = (py - this.at.y) / this.at.k;
    return this.drawing().boxes.findIndex((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h);
  },

  point(x, y) {
    const i = this.hit(x, y);
    if (i === this.hover && i < 0) return;
    this.hover = i; this.canvas.style.cursor = i < 0 ? "" : "pointer";
    this.tip.hidden = i < 0;
    if (i >= 0) {
      const b = this.drawing().boxes[i], nodes = this.nodesOf(i), n = nodes.length === 1 && app.doc.nodes[nodes[0]];
      this.tip.textContent = [b.name + (nodes.length > 1 ? ` · ${nodes.length} instances` : ""), this.stateOf(i), n && n.words, n && n.description].filter(Boolean).join("\n");
      this.tip.style.left = Math.min(x + 14, Math.max(8, this.size.w - 390)) + "px"; this.tip.style.top = Math.min(y + 16, this.size.h - 70) + "px";
    }
    this.draw();
  },

  boxOf(node) { return this.by === "nodes" ? node : this.drawing().boxes.findIndex((b) => b.task === app.doc.nodes[node].task); },
  nodesOf(i) { return this.by === "nodes" ? [i] : instancesOf(this.drawing().boxes[i].task); },
  stateOf(i) { return this.by === "nodes" ? (app.doc.nodes[i] || {}).state || "" : stateOfTask(this.drawing().boxes[i].task); },

  choose(i) {
    if (i < 0) return select(-1);
    const nodes = this.nodesOf(i);
    if (nodes.length === 1) return select(nodes[0]);
    if (nodes.length > 1) { this.by = "nodes"; this.show(nodes); app.render(); }
  },

  // show moves to the boxes of some nodes.
  show(nodes) {
    const boxes = nodes.map((i) => app.doc.drawings.nodes.boxes[i]).filter(Boolean);
    if (!boxes.length) return;
    const x0 = Math.min(...boxes.map((b) => b.x)), y0 = Math.min(...boxes.map((b) => b.y)), x1 = Math.max(...boxes.map((b) => b.x + b.w)), y1 = Math.max(...boxes.map((b) => b.y + b.h));
    const k = Math.min(this.size.w / (x1 - x0 + 160), (this.size.h - 60) / (y1 - y0 + 160), 1.3);
    this.at = { k, x: this.size.w / 2 - k * (x0 + x1) / 2, y: (this.size.h - 50) / 2 - k * (y0 + y1) / 2 };
    this.moved = true; this.whole = false; this.shot = null;
  },

  // reach finds what the chosen box needs and who needs it.
  reach(chosen) {
    const d = this.drawing(), near = new Set([chosen]);
    const walk = (from, to) => {
      const next = new Map();
      for (const l of d.lines) { if (!next.has(l[from])) next.set(l[from], []); next.get(l[from]).push(l[to]); }
      const queue = [chosen];
      while (queue.length) for (const t of next.get(queue.pop()) || []) if (!near.has(t)) { near.add(t); queue.push(t); }
    };
    walk(0, 1); const below = new Set(near); near.clear(); near.add(chosen); walk(1, 0);
    for (const b of below) near.add(b);
    return near;
  },

  paint() {
    if (!this.canvas || !this.size.w || app.view !== "graph") return;
    const { ctx, size } = this;
    ctx.setTransform(size.dpr, 0, 0, size.dpr, 0, 0);
    ctx.fillStyle = palette.bg; ctx.fillRect(0, 0, size.w, size.h);
    if (this.shot) return this.paintShot();
    ctx.translate(this.at.x, this.at.y); ctx.scale(this.at.k, this.at.k);
    const k = this.at.k, view = { x0: -this.at.x / k, y0: -this.at.y / k, x1: (size.w - this.at.x) / k, y1: (size.h - this.at.y) / k };
    paintGraph(ctx, this, view, k);
  },
};

function paintGraph(ctx, g, view, k) {
  const d = g.drawing();
  const chosen = app.sel < 0 ? -1 : g.boxOf(app.sel);
  const memo = g.memo && g.memo.d === d && g.memo.chosen === chosen ? g.memo : (g.memo = { d, chosen, near: chosen >= 0 ? g.reach(chosen) : null });
  const near = memo.near, bright = new Uint8Array(d.boxes.length);
  d.boxes.forEach((b, i) => { bright[i] = (!near || near.has(i)) && (!app.filtered || g.nodesOf(i).some((n) => app.shown[n])) ? 1 : 0; });
  paintLines(ctx, d, view, k, near, bright);
  const tiny = k < 0.33;
  ctx.font = `12px ${palette.mono}`; ctx.textBaseline = "middle";
  d.boxes.forEach((b, i) => {
    if (b.x > view.x1 || b.x + b.w < view.x0 || b.y > view.y1 || b.y + b.h < view.y0) return;
    const t = tone(g.stateOf(i));
    ctx.globalAlpha = bright[i] ? 1 : 0.22;
    ctx.fillStyle = g.stateOf(i) ? palette[t + "-bg"] : palette.panel;
    ctx.strokeStyle = i === chosen ? palette.accent : b.cyclic ? palette.failed : tiny ? palette[t] : t === "idle" ? palette.strong : palette[t];
    ctx.lineWidth = i === chosen ? 2.5 : i === g.hover ? 1.8 : 1;
    ctx.beginPath();
    if (tiny) ctx.rect(b.x, b.y, b.w, b.h); else ctx.roundRect(b.x, b.y, b.w, b.h, 6);
    ctx.fill(); ctx.stroke();
    const color = groupColor(b.group);
    if (color) { ctx.fillStyle = color; ctx.fillRect(b.x + 1, b.y + 4, tiny ? 6 : 3, b.h - 8); }
    if (!tiny) { ctx.fillStyle = palette.ink; ctx.fillText(b.label, b.x + 12, b.y + b.h / 2 + 0.5); }
  });
  ctx.globalAlpha = 1;
}

function groupColor(name) { return name && (app.groupColors || {})[name]; }

// paintLines strokes all lines of one kind at once: a path a kind is many times faster than a path a line.
function paintLines(ctx, d, view, k, near, bright) {
  const kinds = new Map();
  for (const l of d.lines) {
    const from = d.boxes[l[1]], to = d.boxes[l[0]];
    const x1 = from.x + from.w, y1 = from.y + from.h / 2, x2 = to.x, y2 = to.y + to.h / 2, bend = Math.max((x2 - x1) / 2, 45);
    if (Math.max(x1, x2) + bend < view.x0 || Math.min(x1, x2) - bend > view.x1 || Math.max(y1, y2) < view.y0 || Math.min(y1, y2) > view.y1) continue;
    const lit = near && near.has(l[0]) && near.has(l[1]), kind = l[2] + (lit ? 10 : bright[l[0]] && bright[l[1]] ? 0 : 20);
    if (!kinds.has(kind)) kinds.set(kind, new Path2D());
    const p = kinds.get(kind);
    p.moveTo(x1, y1);
    if (k < 0.25) p.lineTo(x2, y2); else p.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  }
  for (const [kind, p] of [...kinds].sort((a, b) => a[0] - b[0])) {
    const how = kind % 10, lit = kind >= 10 && kind < 20;
    ctx.globalAlpha = kind >= 20 ? 0.25 : 1;
    ctx.strokeStyle = how === 3 ? palette.failed : lit ? palette.accent : palette.strong;
    ctx.lineWidth = Math.max(lit ? 1.6 : 1, 0.6 / k);
    ctx.setLineDash(k < 0.25 ? [] : how === 2 ? [2, 4] : how === 1 ? [6, 4] : []);
    ctx.stroke(p);
  }
  ctx.setLineDash([]); ctx.globalAlpha = 1;
}
