// The live page: what it asks the server, how it stays up to date, and what a person decides.

const live = {
  token: "", stop: null, followed: null,

  // The link that ufbuild printed carries the token behind #, which no browser sends anywhere. It is kept for this
  // tab and taken out of the address at once.
  takeToken() {
    const m = /^#token=([\w-]+)/.exec(location.hash);
    try {
      if (m) sessionStorage.setItem("token", m[1]);
      this.token = m ? m[1] : sessionStorage.getItem("token") || "";
    } catch { this.token = m ? m[1] : ""; }
    if (m) history.replaceState(null, "", location.pathname);
  },

  async ask(path, init = {}) {
    const r = await fetch("/api/" + path, { ...init, headers: { Authorization: "Bearer " + this.token, ...(init.body ? { "Content-Type": "application/json" } : {}) }, cache: "no-store" });
    if (r.ok) return r;
    let words = `The server answered ${r.status}.`;
    try { words = (await r.json()).error || words; } catch { /* no words */ }
    throw Object.assign(new Error(words), { status: r.status });
  },
  async get(path, query) { return (await this.ask(path + "?" + new URLSearchParams(query))).json(); },
  async post(path, body) { return (await this.ask(path, { method: "POST", body: JSON.stringify(body) })).json(); },

  async start() {
    app.live = true;
    this.takeToken();
    if (!this.token) return this.refused("Open this page by the link that ufbuild ui printed: it carries the token of this server.");
    try {
      takeDocument(await (await this.ask("document")).json());
    } catch (err) {
      return this.refused(err.status === 403 ? "The token is not the one of this server. Open the page by the link that ufbuild ui printed last." : err.message);
    }
    boot();
    this.state(true);
    this.tick();
    this.listen();
  },

  refused(words) {
    document.body.replaceChildren(el("div", { class: "empty", id: "refused" }, el("h2", {}, "ufbuild ui"), el("p", {}, words)));
  },

  // Running attempts grow while nothing is sent.
  tick() { setInterval(() => { if (app.view === "timeline" && app.doc.nodes.some((n) => n.state === "running")) app.refresh(); }, 2000); },

  state(on, words) {
    const e = $("live");
    e.hidden = false; e.className = on ? "on" : "off";
    const b = app.doc.building;
    e.textContent = words || (b ? `${b.verb} by ${b.who} ${b.stops ? "ends, " + b.stops : b.paused ? "waits, " + b.paused : "runs"}` : "live");
    $("undo").hidden = !app.doc.last;
    $("make").hidden = !!b; $("hold").hidden = $("halt").hidden = !b || !b.obeys || !!b.stops;
    $("hold").textContent = b && b.paused ? "Resume" : "Pause";
  },

  // listen reads the stream of changes, and asks again when it breaks.
  async listen() {
    for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
      try {
        await this.stream("events", { seq: app.doc.seq || 0 }, (event, data) => {
          wait = 500;
          if (event === "document") this.update(JSON.parse(data));
          if (event === "trouble") { app.trouble = JSON.parse(data); renderHeader(); }
        });
      } catch (err) {
        if (err.status === 403) return this.refused("This server does not know the token any more. Open the link that ufbuild ui printed last.");
      }
      this.state(false, "not connected; trying again");
      await new Promise((r) => setTimeout(r, wait));
      try { this.update(await (await this.ask("document")).json()); } catch { /* the loop tries again */ }
    }
  },

  // stream reads server-sent events. EventSource cannot send the token.
  async stream(path, query, take, signal) {
    const r = await this.ask(path + "?" + new URLSearchParams(query), { signal });
    const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const events = rest.split("\n\n");
      rest = events.pop();
      for (const e of events) {
        const name = /^event: (.*)$/m.exec(e), data = e.split("\n").filter((l) => l.startsWith("data: ")).map((l) => l.slice(6)).join("\n");
        if (name) take(name[1], data);
      }
    }
  },

  // update takes what changed. Nodes that did not change are not sent; the rest is taken whole.
  update(change) {
    const doc = app.doc, shown = doc.nodes[app.sel] || { attempts: [] }, address = shown.address;
    const newest = shown.attempts.length > 0 && app.n === shown.attempts[shown.attempts.length - 1].n;
    const before = app.sel < 0 ? "" : JSON.stringify(doc.nodes[app.sel]), latest = app.filter.build === (doc.build || "");
    if (change.changed) {
      for (const n of change.changed) doc.nodes[n.at] = n.node;
      delete change.changed;
      takeDocument({ ...change, nodes: doc.nodes, drawings: doc.drawings });
    } else { takeDocument(change); app.reshaped = true; }
    if (latest) app.filter.build = app.doc.build || ""; // who looks at the newest build goes on to the next
    app.sel = app.byAddress.has(address) ? app.byAddress.get(address) : -1;
    const node = app.doc.nodes[app.sel];
    if (node && node.attempts.length && (newest || !shown.attempts.length)) app.n = node.attempts[node.attempts.length - 1].n; // who looks at the newest goes on to the next
    this.state(true);
    app.refresh();
    if (app.sel >= 0 && JSON.stringify(app.doc.nodes[app.sel]) !== before) renderDetail();
  },

  unfollow() { if (this.followed) { this.followed.abort(); this.followed = null; } },

  // follow shows the log of a running attempt as it grows.
  follow(pane, node, a) {
    const pre = el("pre", { id: "followed" }), stop = new AbortController();
    this.followed = stop;
    pane.append(el("div", { class: "textbar" }, el("span", { class: "soft" }, "follows the log while the attempt runs")), pre);
    const bound = 1 << 20;
    this.stream("follow", { address: node.address, n: a.n }, (event, data) => {
      if (event !== "log") return;
      const low = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 40;
      pre.append(JSON.parse(data));
      if (pre.textContent.length > bound) pre.textContent = pre.textContent.slice(-bound / 2);
      if (low) pane.scrollTop = pane.scrollHeight;
    }, stop.signal).catch((err) => { if (err.name !== "AbortError") pre.append("\n" + err.message); });
  },

  // actions are what a person can decide of a task.
  actions(node, a) {
    const busy = !!app.doc.building, tell = (what, props) => button(what[0].toUpperCase() + what.slice(1), () => this.decide(what, node, a), { disabled: busy, "data-keep": what, title: busy ? `wait: ${app.doc.building.verb} runs` : null, ...props });
    if (node.template && !node.attempts.length) return null;
    const list = [];
    if (node.asks) list.push(tell("approve", { class: "primary" }), tell("deny", { class: "danger" }));
    if (["stale", "unknown", "failed", "skipped"].includes(node.state)) list.push(button("Build…", () => this.build([node.address]), { disabled: busy, "data-keep": "build", title: busy ? `wait: ${app.doc.building.verb} runs` : null }));
    if (node.attempts.length) list.push(button("Retry…", () => this.retry(node), { disabled: busy, "data-keep": "retry", title: busy ? `wait: ${app.doc.building.verb} runs` : null }));
    if (node.state !== "fresh" && node.state !== "running" && !node.asks && node.attempts.some((x) => x.outputs)) list.push(tell("accept"));
    if (a && a.outputs && !a.selected && !a.retried && a.state !== "running") list.push(tell("select", { title: `read attempt ${a.n} instead` }));
    if (node.state === "fresh" && !node.pinned) list.push(tell("pin"));
    if (node.pinned) list.push(tell("unpin"));
    return list.length > 0 && el("div", { class: "actions" }, list);
  },

  async decide(verb, node, a) {
    const words = {
      approve: "Say that the bytes that wait are good. The next build selects them and goes on with what reads them. The word holds for exactly these bytes.",
      deny: "Say that the bytes that wait are not good: the contract rejects them, and the next build runs the task again.",
      accept: "Say that an edit, or a failing check, does not matter. Nothing runs.",
      select: `Read attempt ${a && a.n} instead of another. Nothing runs.`,
      pin: "Hold what the task reads now: a retry of it is refused until unpin.",
      unpin: "Let the task go. It goes on reading what it reads.",
    }[verb];
    const shown = [];
    if (node.asks) {
      try {
        for (const name of node.asks_outputs) {
          const t = await this.get("text", { address: node.address, n: node.asks_n, what: "output:" + name });
          shown.push(el("h3", {}, name), el("pre", { class: "scroll" }, t.binary ? `${bytes(t.size)} that are no text` : t.text));
        }
      } catch (err) { return toast(err.message, true); }
    }
    this.form(`${verb[0].toUpperCase() + verb.slice(1)} ${node.address}${verb === "select" ? "@" + a.n : ""}`, [el("p", {}, words), ...shown], verb, async (why) =>
      this.post("decide", { verb, address: node.address, n: verb === "select" ? a.n : 0, why, asks: node.asks || "" }));
  },

  undo() {
    const last = (app.doc.rulings || []).find((r) => r.id === app.doc.last);
    this.form("Undo", [el("p", {}, last ? `Takes back the last decision: ${last.word} of ${last.targets.slice(0, 5).join(", ")}${last.targets.length > 5 ? ` and ${last.targets.length - 5} more` : ""} by ${last.who}, ${when(last.when)}. Nothing runs.` : "Takes back the last decision.")], "undo", () => this.post("decide", { verb: "undo", id: last ? last.id : "" }), false);
  },

  // build shows what would run and its price, and builds what was shown.
  async build(targets) {
    let p;
    try { p = await this.post("build/plan", { targets }); } catch (err) { return toast(err.message, true); }
    if (!p.nodes.length) return toast("Nothing to do: " + p.price);
    const rows = p.nodes.map((n) => el("tr", {}, el("td", { class: "mono" }, n.address), el("td", {}, chip(n.state)), el("td", { class: "soft" }, n.words), el("td", { class: "num" }, n.price || "")));
    this.form(targets.length ? `Build ${targets.join(", ")}` : "Build", [
      el("p", { class: "price", id: "price" }, p.price),
      el("p", { id: "paid" }, p.paid ? `${count(p.paid, "task")} of these ${p.paid === 1 ? "runs a prompt, which costs" : "run prompts, which cost"} money.` : "None of these runs a prompt, so nothing is paid."),
      el("div", { class: "scroll", tabindex: "0" }, el("table", {}, el("tbody", {}, rows))),
    ], "build", () => this.post("build", { targets, agreed: p.agreed }), false);
  },

  // hold pauses the build that runs, or lets it go on. Nothing is lost by either, so nobody is asked.
  async hold() {
    const b = app.doc.building, e = $("hold");
    if (!b) return;
    e.disabled = true;
    try { toast((await this.post("order", { build: b.build, want: b.paused ? "resume" : "pause", why: "on the page" })).words); } catch (err) { toast(err.message, true); }
    e.disabled = false;
  },

  halt() {
    const b = app.doc.building;
    if (b) this.form("Cancel the build", [el("p", {}, "Nothing new starts, and what runs is asked to end. What it left is kept, and the next build goes on from there.")], "cancel it", (why) => this.post("order", { build: b.build, want: "cancel", why }));
  },

  async retry(node, alone = false, now = true, reason = "") {
    let p;
    try { p = await this.post("retry/price", { targets: [node.address], alone }); } catch (err) { return toast(err.message, true); }
    const build = el("input", { type: "checkbox", id: "build-now" }), only = el("input", { type: "checkbox", id: "alone" });
    build.checked = now; only.checked = alone;
    only.addEventListener("change", () => { only.checked = alone; this.retry(node, !alone, build.checked, $("why").value); }); // the price is another
    const rows = p.nodes.map((n) => el("tr", {}, el("td", { class: "mono" }, n.address), el("td", { class: "soft" }, n.role), el("td", { class: "num" }, n.duration_ms == null && n.cost_usd == null ? "not known" : duration(n.duration_ms || 0)), el("td", { class: "num" }, money(n.cost_usd))));
    this.form(`Retry ${node.address}`, [
      el("p", {}, "Discards these results and runs again. Nothing is lost: undo brings all of it back."),
      el("p", { class: "price", id: "price" }, p.price),
      el("div", { class: "scroll" }, el("table", {}, el("tbody", {}, rows))),
      el("label", { class: "check" }, only, "this task alone, not its dependents"), el("label", { class: "check" }, build, "build right away"),
    ], "retry", (why) => this.post("retry", { targets: [node.address], alone, why, agreed: p.agreed, build: build.checked }));
    $("why").value = reason;
  },

  // form asks for a reason and a yes.
  form(title, content, verb, act, asksWhy = true) {
    const why = el("input", { type: "text", id: "why", autocomplete: "off" });
    const yes = button(verb[0].toUpperCase() + verb.slice(1), async () => {
      yes.disabled = true;
      try { toast((await act(why.value)).words || "Done."); closeDialog(); } catch (err) { toast(err.message, true); yes.disabled = false; }
    }, { class: "primary", id: "yes" });
    showDialog([el("h2", { style: { fontSize: "17px" } }, title), ...content, asksWhy && el("label", { for: "why" }, "Why (kept with the record)"), asksWhy && why, el("div", { class: "buttons" }, button("Cancel", closeDialog), yes)].filter(Boolean));
    why.addEventListener("keydown", (e) => { if (e.key === "Enter") yes.click(); });
    (asksWhy ? why : yes).focus();
  },
};
