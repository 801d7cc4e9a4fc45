/* A chart in SVG that is drawn anew whenever a parameter moves: lines over a shared x, bands, marks and rules. Arrow keys
 * and the pointer move a cursor, whose values are said below it; a table of all values stands behind it. */
"use strict";

const svgName = "http://www.w3.org/2000/svg";

function svg(name, attributes, parent) {
  const node = document.createElementNS(svgName, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (parent) parent.append(node);
  return node;
}

function element(name, properties, parent) {
  const node = Object.assign(document.createElement(name), properties);
  if (parent) parent.append(node);
  return node;
}

/* A number as people read it: five digits, thousands in groups. */
function shown(value) {
  if (value === null || value === undefined || !isFinite(value)) return "none";
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return Number(value.toPrecision(4)).toExponential().replace("e+", "e");
  return Number(value.toPrecision(5)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/* Tokens: whole thousands of 1024 as k. */
function tokensShown(value) {
  if (value >= 1048576 && value % 1048576 === 0) return `${value / 1048576}M`;
  return value >= 1024 && value % 1024 === 0 ? `${value / 1024}k` : shown(value);
}

/* Ticks of an axis from low to high: powers, or steps of 1, 2, 5. */
function ticksOf(low, high, log, room) {
  const ticks = [];
  if (log) {
    const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
    const step = Math.max(1, Math.ceil((to - from + 1) / room));
    for (let p = from; p <= to; p += step) ticks.push(10 ** p);
    return ticks;
  }
  const raw = (high - low) / Math.max(1, room), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/* Where numbers of an axis stand between two pixels. */
function scaleOf(axis, values, from, to) {
  const good = values.filter((v) => v !== null && isFinite(v) && (!axis.log || v > 0));
  let low = good.reduce((a, b) => Math.min(a, b), Infinity), high = good.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(low <= high)) [low, high] = axis.log ? [1, 10] : [0, 1];
  if (low === high) [low, high] = axis.log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  if (!axis.tight) {
    const pad = 0.05;
    if (axis.log) [low, high] = [low / (high / low) ** pad, high * (high / low) ** pad];
    else [low, high] = [low - (high - low) * pad, high + (high - low) * pad];
  }
  const bend = axis.log ? Math.log : (v) => v, first = bend(low), width = bend(high) - first;
  const place = (v) => (v === null || !isFinite(v) || (axis.log && v <= 0) ? null : from + ((bend(v) - first) / width) * (to - from));
  return { low, high, place };
}

/* The path through the points that there are. */
function pathOf(xs, ys) {
  let path = "", pen = "M";
  for (let i = 0; i < xs.length; i++) {
    if (xs[i] === null || ys[i] === null) { pen = "M"; continue; }
    path += `${pen}${xs[i].toFixed(1)} ${ys[i].toFixed(1)}`;
    pen = "L";
  }
  return path;
}

function bandOf(xs, low, high) {
  const there = [...xs.keys()].filter((i) => xs[i] !== null && low[i] !== null && high[i] !== null);
  if (there.length < 2) return "";
  const up = there.map((i) => `${xs[i].toFixed(1)} ${high[i].toFixed(1)}`), down = there.map((i) => `${xs[i].toFixed(1)} ${low[i].toFixed(1)}`);
  return `M${up.join("L")}L${down.reverse().join("L")}Z`;
}

class Chart {
  constructor(parent, id, title) {
    this.card = element("section", { className: "card chart", id }, parent);
    this.card.setAttribute("aria-labelledby", `${id}-title`);
    element("h2", { id: `${id}-title`, textContent: title }, this.card);
    this.caption = element("p", { className: "soft", id: `${id}-caption` }, this.card);
    this.legend = element("ul", { className: "legend" }, this.card);
    this.picture = svg("svg", { role: "img", tabindex: "0", "aria-label": title, "aria-describedby": `${id}-caption` }, this.card);
    this.readout = element("p", { className: "readout" }, this.card);
    this.readout.setAttribute("aria-live", "polite");
    this.details = element("details", {}, this.card);
    element("summary", { textContent: "All values as a table" }, this.details);
    this.scroll = element("div", { className: "scroll", tabIndex: 0 }, this.details);
    this.scroll.setAttribute("role", "region");
    this.scroll.setAttribute("aria-label", `${title}: all values`);
    this.at = null;
    this.details.addEventListener("toggle", () => this.fillTable());
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("keydown", (event) => this.step(event));
    new ResizeObserver(() => this.spec && this.draw()).observe(this.picture);
  }

  /* spec: {caption, x: {name, log}, y: {name, log}, xs, series: [{name, kind, xs, ys, low, high, marks}],
   * rules: [{axis, value, name}], table: {columns, rows()}, say(i)} */
  update(spec) {
    this.spec = spec;
    if (this.at !== null && this.at >= spec.xs.length) this.at = null;
    this.caption.textContent = spec.caption;
    this.draw();
    this.fillTable();
  }

  draw() {
    const { spec, picture } = this, width = Math.max(240, picture.clientWidth || 640), height = 260;
    const left = 74, right = width - 12, top = 8, bottom = height - 40;
    const ys = spec.series.flatMap((s) => [...s.ys, ...(s.low || []), ...(s.high || [])]);
    const rules = spec.rules.filter((r) => r.value > 0);
    const x = scaleOf({ ...spec.x, tight: true }, spec.xs, left, right);
    const y = scaleOf(spec.y, [...ys, ...rules.filter((r) => r.axis === "y").map((r) => r.value)], bottom, top);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.replaceChildren();
    this.drawAxes(x, y, { left, right, top, bottom, width, height });
    this.px = spec.xs.map(x.place);
    for (const s of spec.series) if (s.low) svg("path", { class: "band", d: bandOf(this.px, s.low.map(y.place), s.high.map(y.place)) }, picture);
    for (const s of spec.series) svg("path", { class: s.kind, d: pathOf(s.xs ? s.xs.map(x.place) : this.px, s.ys.map(y.place)) }, picture);
    for (const s of spec.series) if (s.marks) this.drawMarks(s, y);
    let nameAt = 0;
    for (const r of rules) this.drawRule(r, r.axis === "x" ? x : y, { left, right, top, bottom }, nameAt++);
    this.cursor = svg("path", { class: "cursor", d: "" }, picture);
    this.box = { top, bottom };
    this.drawLegend();
    this.show();
  }

  drawAxes(x, y, box) {
    const { spec, picture } = this, { left, right, top, bottom } = box;
    let grid = "";
    for (const tick of ticksOf(x.low, x.high, spec.x.log, (right - left) / 70)) {
      const px = x.place(tick);
      grid += `M${px.toFixed(1)} ${top}V${bottom}`;
      svg("text", { x: px, y: bottom + 16, "text-anchor": "middle" }, picture).textContent = shown(tick);
    }
    for (const tick of ticksOf(y.low, y.high, spec.y.log, (bottom - top) / 32)) {
      const py = y.place(tick);
      grid += `M${left} ${py.toFixed(1)}H${right}`;
      svg("text", { x: left - 6, y: py + 4, "text-anchor": "end" }, picture).textContent = shown(tick);
    }
    svg("path", { class: "grid", d: grid }, picture);
    svg("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }, picture);
    svg("text", { x: (left + right) / 2, y: box.height - 6, "text-anchor": "middle" }, picture).textContent = spec.x.name;
    svg("text", { transform: `translate(11 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, picture).textContent = spec.y.name;
  }

  drawMarks(series, y) {
    let d = "";
    series.ys.forEach((v, i) => {
      const px = this.px[i], py = y.place(v);
      if (series.marks[i] && px !== null && py !== null) d += `M${(px - 3.5).toFixed(1)} ${py.toFixed(1)}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`;
    });
    svg("path", { class: "past", d }, this.picture);
  }

  drawRule(rule, scale, box, number) {
    const at = scale.place(rule.value);
    if (at === null || rule.value < scale.low || rule.value > scale.high) return;
    const across = rule.axis === "y";
    svg("path", { class: "rule", d: across ? `M${box.left} ${at}H${box.right}` : `M${at} ${box.top}V${box.bottom}` }, this.picture);
    const end = across || at > (box.left + box.right) / 2, x = across ? (rule.atStart ? box.left + 6 : box.right - 4) : end ? at - 5 : at + 5;
    const y = across ? at - 4 : box.top + 12 + 15 * number;
    svg("text", { class: "rule-name", x, y, "text-anchor": end && !rule.atStart ? "end" : "start" }, this.picture).textContent = rule.name;
  }

  drawLegend() {
    this.legend.replaceChildren();
    for (const s of this.spec.series) {
      const item = element("li", {}, this.legend), key = svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, item);
      if (s.low) svg("path", { class: "band", d: "M0 0H26V10H0Z" }, key);
      svg("path", { class: s.kind, d: "M0 5H26" }, key);
      item.append(s.name);
      if (!s.marks || !s.marks.includes(true)) continue;
      const mark = element("li", {}, this.legend), dot = svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, mark);
      svg("circle", { class: "past", cx: 13, cy: 5, r: 4 }, dot);
      mark.append(s.markName);
    }
  }

  point(event) {
    const box = this.picture.getBoundingClientRect(), at = event.clientX - box.left;
    let best = null;
    this.px.forEach((px, i) => { if (px !== null && (best === null || Math.abs(px - at) < Math.abs(this.px[best] - at))) best = i; });
    this.at = best;
    this.show();
  }

  step(event) {
    const last = this.px.length - 1, here = this.at;
    const to = { ArrowRight: here === null ? 0 : here + 1, ArrowLeft: here === null ? last : here - 1, PageDown: (here || 0) + 8, PageUp: (here || 0) - 8, Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.at = null;
    else if (to === undefined) return;
    else this.at = Math.min(last, Math.max(0, to));
    event.preventDefault();
    this.show();
  }

  show() {
    const px = this.at === null ? null : this.px[this.at];
    this.cursor.setAttribute("d", px === null || px === undefined ? "" : `M${px.toFixed(1)} ${this.box.top}V${this.box.bottom}`);
    this.readout.textContent = this.at === null ? "Point at the chart, or focus it and press the arrow keys, to read values." : this.spec.say(this.at);
  }

  fillTable() {
    if (!this.details.open || !this.spec) return;
    const table = element("table", {}), head = element("tr", {}, element("thead", {}, table)), body = element("tbody", {}, table);
    const { columns, values } = this.spec.table;
    for (const column of columns) {
      const cell = element("th", { scope: "col", textContent: column.name, title: column.summary }, head);
      if (column.unit && column.unit !== "1") cell.title = `${column.summary} [${column.unit}]`;
    }
    for (let row = 0; row < this.spec.xs.length; row++) {
      const line = element("tr", {}, body);
      for (const column of columns) element("td", { textContent: values[column.name][row] === null ? "" : String(values[column.name][row]) }, line);
    }
    this.scroll.replaceChildren(table);
  }
}
