// The timeline: one lane a slot, one bar an attempt.

const laneHeight = 24, axisHeight = 28;

const timelineView = {
  range: null, top: 0, hover: null,

  mount(main) {
    const bars = this.gather();
    const view = el("div", { class: "view fill" });
    main.append(view);
    if (!bars.length) {
      this.canvas = null;
      view.append(el("div", { class: "empty" }, el("h2", {}, "No attempts to show"), el("p", {}, app.filtered || app.filter.build ? "None passes the filters. Choose all builds, or clear the filter." : "Nothing was run yet.")));
      return;
    }
    view.append(this.path = el("div", {}, this.critical()));
    const stage = el("div", { class: "stage" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.draw = later(() => this.paint());
    Object.assign(this, canvasOf(stage, { role: "img", id: "timeline", "aria-label": this.label() }, () => this.paint()));
    stage.append(this.tip, el("div", { class: "corner", role: "group", "aria-label": "Timeline" },
      button("−", () => this.zoom(1 / 1.5), { "aria-label": "Zoom out" }), button("+", () => this.zoom(1.5), { "aria-label": "Zoom in" }), button("Fit", () => { this.range = null; this.top = 0; this.draw(); })));
    view.append(stage);
    this.listen();
  },

  label() { return `Timeline of ${count(this.bars.length, "attempt")} in ${count(this.lanes, "lane")}. Arrow keys move, plus and minus zoom, 0 shows all.`; },

  // renew shows what there is by now and leaves the reader where it is; false: there is nothing to show.
  renew() {
    if (!this.gather().length) return false;
    const h = this.hover;
    this.hover = h && this.bars.find((b) => b.i === h.i && b.a.n === h.a.n) || null; this.tip.hidden = !this.hover;
    this.canvas.setAttribute("aria-label", this.label());
    if (!this.path.contains(document.activeElement)) this.path.replaceChildren(this.critical());
    return true;
  },

  // gather lays the attempts of the build into lanes: each in the first that is free when it starts.
  gather() {
    const now = Date.now(), bars = [];
    app.doc.nodes.forEach((n, i) => {
      if (app.shown[i]) for (const a of n.attempts) if (real(a.started) && inBuild(a)) {
        const t0 = Date.parse(a.started);
        bars.push({ i, a, t0, t1: a.state === "running" ? Math.max(now, t0 + 1) : t0 + Math.max(a.duration_ms || 0, 1), lane: 0 });
      }
    });
    bars.sort((x, y) => x.t0 - y.t0);
    const free = [], ends = []; // free: lanes that are empty, lowest first; ends: a heap of [end, lane]
    let lanes = 0;
    for (const b of bars) {
      while (ends.length && ends[0][0] <= b.t0) push(free, [pop(ends)[1]]);
      b.lane = free.length ? pop(free)[0] : lanes++;
      push(ends, [b.t1, b.lane]);
    }
    this.lanes = lanes; this.bars = bars;
    this.byLane = Array.from({ length: lanes }, () => []);
    for (const b of bars) this.byLane[b.lane].push(b);
    this.whole = bars.length ? [bars[0].t0, bars.reduce((m, b) => Math.max(m, b.t1), 0)] : [0, 1];
    return bars;
  },

  critical() {
    const p = app.doc.critical || {}, whole = this.whole[1] - this.whole[0];
    if (!p.nodes || !p.nodes.length) return "";
    const same = !app.filter.build || app.filter.build === app.doc.build;
    if (!same) return "";
    const steps = p.nodes.slice(0, 12).flatMap((i, at) => [at > 0 && el("span", { class: "soft" }, "→"), button(app.doc.nodes[i].address, () => select(i), { class: "link" })]);
    return el("div", { class: "pad small", style: { paddingBottom: "8px" } }, el("div", { class: "path" }, el("b", {}, "Critical path"), el("span", { class: "soft" }, `${duration(p.total_ms)} of ${duration(whole)}:`), steps, p.nodes.length > 12 && el("span", { class: "soft" }, `… ${p.nodes.length} tasks`)));
  },

  listen() {
    const c = this.canvas;
    c.addEventListener("wheel", (e) => {
      e.preventDefault();
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) return this.pan(-(e.deltaX || e.deltaY), 0);
      if (this.lanes * laneHeight > this.size.h - axisHeight && !e.ctrlKey) return this.pan(0, -e.deltaY);
      this.zoom(Math.exp(-e.deltaY * 0.002), e.offsetX);
    }, { passive: false });
    drags(c, {
      move: (dx, dy) => this.pan(dx, dy), hover: (x, y) => this.point(x, y), leave: () => this.point(-1, -1),
      click: (x, y) => { const b = this.hit(x, y); if (b) select(b.i, b.a.n); },
    });
    c.addEventListener("dblclick", () => { this.range = null; this.draw(); });
    c.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, laneHeight], ArrowDown: [0, -laneHeight] }[e.key];
      if (step) this.pan(...step);
      else if (e.key === "+" || e.key === "=") this.zoom(1.5);
      else if (e.key === "-") this.zoom(1 / 1.5);
      else if (e.key === "0") { this.range = null; this.draw(); }
      else return;
      e.preventDefault();
    });
  },

  span() { const [a, b] = this.range || this.whole, room = this.range ? 0 : (b - a) * 0.01 + 1; return [a - room, b + room]; },

  pan(dx, dy) {
    const [a, b] = this.span(), by = -dx * (b - a) / this.size.w;
    if (dx) this.range = [a + by, b + by];
    this.top = Math.max(0, Math.min(this.top - dy, this.lanes * laneHeight - this.size.h + axisHeight + 60));
    this.draw();
  },

  zoom(by, x = this.size.w / 2) {
    const [a, b] = this.span(), at = a + (b - a) * x / this.size.w;
    const width = Math.min(Math.max((b - a) / by, 5), (this.whole[1] - this.whole[0]) * 1.5 + 10);
    this.range = [at - width * x / this.size.w, at + width * (1 - x / this.size.w)];
    this.draw();
  },

  hit(x, y) {
    const lane = Math.floor((y - axisHeight + this.top) / laneHeight), [a, b] = this.span(), t = a + (b - a) * x / this.size.w, slack = (b - a) * 2 / this.size.w;
    if (y < axisHeight || !this.byLane[lane]) return null;
    return this.byLane[lane].find((bar) => t >= bar.t0 - slack && t <= bar.t1 + slack) || null;
  },

  point(x, y) {
    const b = this.hit(x, y);
    if (b === this.hover) return;
    this.hover = b; this.tip.hidden = !b; this.canvas.style.cursor = b ? "pointer" : "";
    if (b) {
      const n = app.doc.nodes[b.i];
      this.tip.textContent = [`${n.address}@${b.a.n} · ${outcome(b.a)}`, `${clock(b.a.started)} · ${duration(took(b.a))}${b.a.cost_usd === undefined ? "" : " · " + money(b.a.cost_usd)}`, b.a.reason].filter(Boolean).join("\n");
      this.tip.style.left = Math.min(x + 14, Math.max(8, this.size.w - 390)) + "px"; this.tip.style.top = Math.min(y + 16, this.size.h - 80) + "px";
    }
    this.draw();
  },

  paint() {
    if (!this.canvas || !this.size.w || app.view !== "timeline") return;
    const { ctx, size } = this, [a, b] = this.span(), px = (t) => (t - a) * size.w / (b - a);
    ctx.setTransform(size.dpr, 0, 0, size.dpr, 0, 0);
    ctx.fillStyle = palette.bg; ctx.fillRect(0, 0, size.w, size.h);
    const first = Math.floor(this.top / laneHeight), last = Math.min(this.lanes, first + Math.ceil(size.h / laneHeight) + 1);
    ctx.font = "11.5px system-ui, sans-serif"; ctx.textBaseline = "middle";
    const ticks = this.ticks(px, a, b);
    ctx.fillStyle = palette.line; // behind the bars, whose names they would cross
    for (const { x } of ticks) ctx.fillRect(x, axisHeight, 1, size.h);
    for (let lane = first; lane < last; lane++) this.paintLane(ctx, lane, px, a, b);
    this.paintAxis(ctx, ticks);
  },

  paintLane(ctx, lane, px, a, b) {
    const y = axisHeight + lane * laneHeight - this.top, bars = this.byLane[lane];
    let lo = 0, hi = bars.length; // the bars of a lane follow each other, in start and in end
    while (lo < hi) { const mid = (lo + hi) >> 1; if (bars[mid].t1 < a) lo = mid + 1; else hi = mid; }
    let x = 0, end = -1, run = ""; // thin bars that follow each other are one, or a hundred thousand would be drawn
    const flush = () => { if (run) { ctx.fillStyle = palette[run]; ctx.fillRect(x, y + 3, Math.max(end - x, 1), laneHeight - 6); run = ""; } };
    for (let n = lo; n < bars.length && bars[n].t0 <= b; n++) {
      const bar = bars[n], x0 = px(bar.t0), x1 = px(bar.t1), t = tone(outcome(bar.a)), on = bar.i === app.sel || bar === this.hover, critical = bar.a.build === app.doc.build && app.critical.has(bar.i);
      if (x1 - x0 < 6 && !on) {
        const look = critical ? "accent" : t;
        if (run === look && x0 - end < 1) end = Math.max(end, x1);
        else if (run && x1 - end < 0.5) continue; // under what is drawn already
        else { flush(); run = look; x = x0; end = x1; }
        continue;
      }
      flush();
      const left = Math.max(x0, -4), width = Math.max(Math.min(x1, this.size.w + 4) - left, 1.5) - (x1 - x0 > 4 ? 1 : 0);
      ctx.fillStyle = x1 - x0 < 6 ? palette[t] : palette[t + "-bg"];
      ctx.fillRect(left, y + 3, width, laneHeight - 6);
      if (width >= 6) {
        ctx.fillStyle = critical ? palette.accent : palette[t];
        ctx.fillRect(left, y + 3, 2.5, laneHeight - 6);
        if (critical) ctx.fillRect(left, y + laneHeight - 5, width, 2);
      }
      if (on) { ctx.strokeStyle = palette.accent; ctx.lineWidth = 1.5; ctx.strokeRect(left + 0.5, y + 3.5, width - 1, laneHeight - 7); }
      if (width > 34) {
        const from = Math.max(left, 0) + 7;
        ctx.fillStyle = palette.ink; ctx.fillText(fitting(ctx, app.doc.nodes[bar.i].address, left + width - 3 - from), from, y + laneHeight / 2 + 0.5);
      }
    }
    flush();
  },

  // ticks are the times that the axis names, and where.
  ticks(px, a, b) {
    const steps = [10, 50, 100, 500, 1e3, 5e3, 1e4, 3e4, 6e4, 3e5, 6e5, 18e5, 36e5, 108e5, 216e5, 864e5, 6048e5, 2592e6], least = (b - a) * 90 / this.size.w;
    const step = steps.find((s) => s >= least) || steps[steps.length - 1], out = [];
    for (let t = Math.ceil((a - this.whole[0]) / step) * step; t <= b - this.whole[0]; t += step) out.push({ t, x: px(t + this.whole[0]) });
    return out;
  },

  paintAxis(ctx, ticks) {
    ctx.fillStyle = palette.panel; ctx.fillRect(0, 0, this.size.w, axisHeight);
    ctx.fillStyle = palette.line; ctx.fillRect(0, axisHeight - 1, this.size.w, 1);
    ctx.fillStyle = palette.soft;
    for (const { t, x } of ticks) {
      const words = t === 0 ? clock(new Date(this.whole[0]).toISOString()) : "+" + duration(Math.abs(t));
      if (x + 5 + ctx.measureText(words).width <= this.size.w) ctx.fillText(words, x + 5, axisHeight / 2); // half a time is none
    }
  },
};

// fitting is as much of a text as a width has room for, with a mark where the rest is left out.
function fitting(ctx, text, room) {
  const width = ctx.measureText(text).width;
  if (width <= room) return text;
  let n = Math.max(0, Math.min(text.length - 1, Math.floor(text.length * room / width)));
  while (n > 0 && ctx.measureText(text.slice(0, n) + "…").width > room) n--;
  return n > 1 ? text.slice(0, n) + "…" : "";
}

// A heap of arrays by their first number, smallest first.
function push(heap, item) {
  let i = heap.push(item) - 1;
  while (i > 0) { const up = (i - 1) >> 1; if (heap[up][0] <= item[0]) break; heap[i] = heap[up]; i = up; }
  heap[i] = item;
}
function pop(heap) {
  const top = heap[0], last = heap.pop();
  if (!heap.length) return top;
  let i = 0;
  for (;;) {
    let c = 2 * i + 1;
    if (c >= heap.length) break;
    if (c + 1 < heap.length && heap[c + 1][0] < heap[c][0]) c++;
    if (heap[c][0] >= last[0]) break;
    heap[i] = heap[c]; i = c;
  }
  heap[i] = last;
  return top;
}
