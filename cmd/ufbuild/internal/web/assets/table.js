// A table of any length: only the rows in sight are in the page.

const rowHeight = 36;

// columns: {name, cell(row) -> node or text, key(row) -> value to sort by, num, width, more}; those with more are left
// out where the table is narrow, and the others share its width.
function grid(columns, rows, { open, label, sort, current }) {
  let order = sort || null, sorted = rows;
  const body = el("div", { class: "body", role: "rowgroup" });
  const heads = columns.map((c, i) => el("div", { role: "columnheader", class: (c.num ? "num" : "") + (c.more ? " more" : "") },
    c.key ? button(c.name, () => { order = order && order.at === i ? { at: i, up: !order.up } : { at: i, up: !c.num }; arrange(); }) : c.name));
  const widths = (list) => list.map((c) => c.width || "minmax(90px, 1fr)").join(" ");
  const head = el("div", { class: "head", role: "row" }, heads);
  const box = el("div", { class: "grid", role: "table", "aria-label": label, "aria-rowcount": rows.length + 1 }, head, body);
  box.style.setProperty("--wide", widths(columns)); box.style.setProperty("--narrow", widths(columns.filter((c) => !c.more)));
  const arrange = () => {
    sorted = rows;
    if (order) {
      const key = columns[order.at].key, way = order.up ? 1 : -1;
      sorted = rows.map((r, i) => [key(r), i, r]).sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : (a[1] - b[1]) * way) * way).map((x) => x[2]);
    }
    heads.forEach((h, i) => {
      const on = order && order.at === i;
      h.setAttribute("aria-sort", on ? (order.up ? "ascending" : "descending") : "none");
      const b = h.querySelector("button");
      if (b) b.textContent = columns[i].name + (on ? (order.up ? " ↑" : " ↓") : "");
    });
    body.style.height = sorted.length * rowHeight + "px";
    repaint();
  };
  const held = new Map(); // rows in the page, by number
  const row = (i) => {
    const r = sorted[i];
    return el("div", { class: "row" + (current && current(r) ? " on" : ""), role: "row", tabindex: "0", "aria-rowindex": i + 2, "data-at": i,
      style: { top: i * rowHeight + "px" }, onclick: () => open(r) },
    columns.map((c) => el("div", { class: "cell" + (c.num ? " num" : "") + (c.mono ? " mono" : "") + (c.more ? " more" : ""), role: "cell", title: c.title ? c.title(r) : null }, c.cell(r))));
  };
  const paint = () => {
    const top = Math.max(0, Math.floor((box.scrollTop - 200) / rowHeight)), end = Math.min(sorted.length, Math.ceil((box.scrollTop + box.clientHeight + 200) / rowHeight));
    for (const [i, e] of held) if (i < top || i >= end) { e.remove(); held.delete(i); }
    const first = body.firstChild ? +body.firstChild.dataset.at : -1, above = [], below = []; // in their order, for who goes by the tab key
    for (let i = top; i < end; i++) if (!held.has(i)) { const e = row(i); held.set(i, e); (i < first ? above : below).push(e); }
    body.prepend(...above); body.append(...below);
  };
  const repaint = () => {
    const focus = document.activeElement && body.contains(document.activeElement) ? document.activeElement.dataset.at : null;
    held.clear(); body.replaceChildren(); paint();
    if (focus !== null && held.has(+focus)) held.get(+focus).focus({ preventScroll: true });
  };
  box.addEventListener("scroll", later(paint), { passive: true });
  new ResizeObserver(() => paint()).observe(box);
  box.addEventListener("keydown", (e) => {
    const at = e.target.dataset && e.target.dataset.at;
    if (at === undefined) return;
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); open(sorted[+at]); }
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 }[e.key];
    if (!step) return;
    e.preventDefault();
    const next = Math.min(sorted.length - 1, Math.max(0, +at + step));
    box.scrollTop = Math.min(Math.max(box.scrollTop, (next + 2) * rowHeight - box.clientHeight), next * rowHeight);
    paint();
    if (held.has(next)) held.get(next).focus({ preventScroll: true });
  });
  arrange();
  return { box, repaint, get order() { return order; }, get scroll() { return box.scrollTop; }, set scroll(y) { box.scrollTop = y; } };
}
