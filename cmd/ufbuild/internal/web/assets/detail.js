// One task: its attempts, and of one attempt the prompt, the log, the outputs, the verdict and what changed.

function select(i, n, pane) {
  const node = app.doc.nodes[i];
  app.sel = node ? i : -1;
  if (node) {
    const chosen = selected(node), running = node.attempts.find((a) => a.state === "running");
    app.n = n || (running || chosen || { n: 0 }).n;
    if (pane) app.pane = pane;
    else if (app.pane.startsWith("output:")) app.pane = "summary";
  }
  renderDetail(); app.redraw(); saveHash();
}

const attemptOf = (node) => node.attempts.find((a) => a.n === app.n) || node.attempts[node.attempts.length - 1];

function renderDetail() {
  const box = $("detail"), node = app.doc.nodes[app.sel];
  const was = box.hidden;
  box.hidden = !node;
  live.unfollow();
  if (!node) return;
  const a = attemptOf(node), again = focusOf(box);
  box.replaceChildren(el("div", { class: "headline" },
    el("div", { class: "line top" }, el("h2", {}, node.address), node.state && chip(node.state), node.pinned && el("span", { class: "chip plain s-waiting" }, "pinned"), button("×", () => select(-1), { class: "quiet", "aria-label": "Close", "data-keep": "close" })),
    node.description && el("p", { class: "soft", style: { margin: "4px 0 0" } }, node.description),
    node.words && el("p", { style: { margin: "4px 0 0" } }, node.words),
    app.live && live.actions(node, a),
    node.attempts.length > 0 && attemptButtons(node, a)));
  const pane = el("div", { class: "pane", tabindex: "0", role: "tabpanel", "aria-label": "Attempt" });
  if (!a) {
    box.append(el("div", { class: "pane" }, el("div", { class: "empty" }, el("h2", {}, "No attempt yet"), node.template && el("p", {}, "Its instances exist once the list they come from is known."))));
  } else {
    const panes = panesOf(a);
    if (!panes.some(([k]) => k === app.pane)) app.pane = "summary";
    box.append(el("div", { class: "subtabs", role: "tablist", "aria-label": "Of the attempt", onkeydown: tabKeys }, panes.map(([k, words]) =>
      button(words, () => { app.pane = k; renderDetail(); saveHash(); }, { role: "tab", "aria-selected": String(k === app.pane), tabindex: k === app.pane ? "0" : "-1", "data-keep": "tab" + k }))), pane);
    showPane(pane, node, a);
  }
  if (was && app.booted && !$("main").contains(document.activeElement)) box.querySelector("button").focus({ preventScroll: true });
  again();
}

function attemptButtons(node, a) {
  const one = (x) => button([el("i", { class: "s-" + tone(outcome(x)) }), `${x.n} ${outcome(x)}`, x.selected && el("b", {}, "read"), x.retried && el("span", { class: "soft" }, "retried")],
    () => { app.n = x.n; renderDetail(); app.redraw(); saveHash(); }, { "aria-pressed": String(x === a), title: [when(x.started), x.reason].filter(Boolean).join(" · "), "data-keep": "attempt" + x.n });
  return el("div", { class: "attempts", role: "group", "aria-label": "Attempts" }, node.earlier > 0 && el("span", { class: "soft small" }, `${node.earlier} earlier`), node.attempts.map(one));
}

// panesOf lists what there is to see of an attempt.
function panesOf(a) {
  const has = a.has || [], panes = [["summary", "Summary"]];
  for (const [k, words] of [["prompt", "Prompt"], ["log", "Log"]]) if (has.includes(k)) panes.push([k, words]);
  for (const o of a.outputs || []) if (has.includes("output:" + o.name)) panes.push(["output:" + o.name, o.name]);
  for (const [k, words] of [["diff", "Changes"], ["feedback", "Feedback"], ["manifest", "Manifest"]]) if (has.includes(k)) panes.push([k, words]);
  return panes;
}

function showPane(pane, node, a) {
  if (app.pane === "summary") return pane.append(summary(node, a));
  if (app.pane === "log" && a.state === "running" && app.live) return live.follow(pane, node, a);
  pane.append(el("p", { class: "soft" }, "…"));
  const asked = app.pane, n = a.n, address = node.address; // a pane that shows something else meanwhile is another one
  textOf(address, n, asked).then((t) => pane.replaceChildren(...textShown(t, asked, `${address}@${n}`, node)), (err) => pane.replaceChildren(el("p", { class: "message" }, String(err.message || err))));
}

function textShown(t, what, label, node) {
  if (!t) return [el("div", { class: "empty" }, el("h2", {}, "Not in this report"), el("p", {}, "It carries texts up to a bound, the newest first. Print it with:"), el("pre", {}, commandFor(what, label)))];
  if (t.binary) return [el("p", { class: "soft" }, `${bytes(t.size)} that are no text.`)];
  if (!t.text) return [el("p", { class: "soft" }, what === "diff" ? "Nothing changed since the attempt before." : "It is empty.")];
  const bar = el("div", { class: "textbar" }, el("span", { class: "soft" }, bytes(t.size) + (t.cut ? `, of which ${bytes(t.cut)} are left out; ${commandFor(what, label)} prints all` : "")),
    app.live && what === "diff" && compareWith(node), button("Copy", () => navigator.clipboard.writeText(t.text).then(() => toast("Copied."), () => toast("The browser does not let this page copy.", true))));
  return [bar, what === "diff" ? patchShown(t.text) : el("pre", {}, pretty(t.text, what))];
}

function commandFor(what, label) {
  const quoted = /[#*?[\]]/.test(label) ? `'${label}'` : label;
  if (what === "log" || what === "diff") return `ufbuild ${what} ${quoted}`;
  return what.startsWith("output:") ? `ufbuild show ${quoted} --output ${what.slice(7)}` : `ufbuild show ${quoted}` + (what === "feedback" ? " --json" : ` --${what}`);
}

// pretty indents JSON that stands on one line.
function pretty(text, what) {
  if (!what.startsWith("output:") || text.length > 300000 || !/^\s*[[{]/.test(text) || text.trim().includes("\n")) return text;
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function patchShown(text) {
  const pre = el("pre");
  const kind = (l) => l.startsWith("diff --git") || l.startsWith("+++") || l.startsWith("---") ? "file" : l.startsWith("@@") ? "hunk" : l[0] === "+" ? "add" : l[0] === "-" ? "del" : "";
  for (const line of text.replace(/\n$/, "").split("\n")) pre.append(el("span", { class: kind(line) || null }, line || " "));
  return pre;
}

// compareWith offers every other attempt to compare with.
function compareWith(node) {
  const others = node.attempts.filter((x) => x.n !== app.n && x.outputs);
  if (!others.length) return null;
  return el("select", { "aria-label": "Compare with", onchange: async (e) => {
    const to = app.n, from = e.target.value;
    if (!from) return renderDetail();
    const pane = document.querySelector("#detail .pane");
    try { const t = await live.get("diff", { address: node.address, from, to }); pane.querySelector("pre, p.same") && pane.querySelector("pre, p.same").replaceWith(t.text ? patchShown(t.text) : el("p", { class: "same soft" }, "The two are the same.")); } catch (err) { toast(err.message, true); }
  } }, el("option", { value: "" }, "compare with…"), others.map((x) => el("option", { value: x.n }, `attempt ${x.n}`)));
}

function summary(node, a) {
  const row = (k, v) => v ? [el("dt", {}, k), el("dd", {}, v)] : [];
  const tokens = a.input_tokens !== undefined || a.output_tokens !== undefined ? `${a.input_tokens === undefined ? "?" : number(a.input_tokens)} in, ${a.output_tokens === undefined ? "?" : number(a.output_tokens)} out` : "";
  const paid = node.kind === "prompt" ? money(a.cost_usd) || "unknown" : "";
  const verdict = a.verdict && el("div", {}, el("h3", {}, "Verdict"), el("p", {}, chip(a.verdict)), (a.messages || []).map((m) => el("p", { class: "message" }, m)), (a.warnings || []).map((m) => el("p", { class: "message warn" }, m)));
  const outputs = (a.outputs || []).length > 0 && el("div", {}, el("h3", {}, "Outputs"), el("table", {}, el("tbody", {}, a.outputs.map((o) => el("tr", {},
    el("td", { class: "mono" }, (a.has || []).includes("output:" + o.name) ? button(o.name, () => { app.pane = "output:" + o.name; renderDetail(); saveHash(); }, { class: "link" }) : o.name),
    el("td", { class: "soft" }, o.missing ? "not produced" : o.tree ? "tree" : bytes(o.size)), el("td", { class: "soft" }, o.contract || ""), el("td", { class: "mono soft", title: o.digest }, (o.digest || "").slice(0, 18)))))));
  return el("div", {},
    el("dl", {}, row("outcome", el("span", {}, chip(outcome(a)), a.selected ? " readers read this one" : a.retried ? " discarded by a retry" : "")),
      row("because", a.reason), row("started", when(a.started)), row("took", a.state === "running" ? "" : duration(a.duration_ms)), row("cost", paid), row("tokens", tokens),
      row("profile", a.rung || node.profile), row("model", a.model || node.model), row("pool", node.pool), row("sandbox", a.sandbox !== "off" && a.sandbox), row("made as", a.made_as), row("build", a.build && el("span", { class: "mono" }, a.build)), row("key", el("span", { class: "mono" }, `${a.key.slice(0, 20)}, ordinal ${a.ordinal}`))),
    a.message && el("div", {}, el("h3", {}, "How it ended"), el("p", { class: "message" }, a.message)),
    (a.problems || []).length > 0 && el("div", {}, el("h3", {}, "Problems"), a.problems.map((p) => el("p", { class: "message" }, p))),
    verdict, outputs, rulingsOf(node), neighbours());
}

function rulingsOf(node) {
  const mine = (app.doc.rulings || []).filter((r) => r.targets.includes(node.address) || r.targets.includes(node.task));
  return mine.length > 0 && el("div", {}, el("h3", {}, "Decisions"), mine.map((r) => el("p", { class: r.undone ? "soft" : "" }, `${r.word} by ${r.who}, ${when(r.when)}${r.why ? ": " + r.why : ""}${r.undone ? " (taken back)" : ""}`)));
}

// neighbours names what the task needs and who needs it.
function neighbours() {
  const lines = app.doc.drawings.nodes.lines, i = app.sel;
  const list = (title, ids) => ids.length > 0 && [el("h3", {}, `${title} (${ids.length})`), el("p", { class: "path" }, ids.slice(0, 40).map((n) => button(app.doc.nodes[n].address, () => select(n), { class: "link" })), ids.length > 40 && el("span", { class: "soft" }, `and ${ids.length - 40} more`))];
  const uniq = (xs) => [...new Set(xs)];
  return el("div", {}, list("Needs", uniq(lines.filter((l) => l[0] === i).map((l) => l[1]))), list("Needed by", uniq(lines.filter((l) => l[1] === i).map((l) => l[0]))));
}
