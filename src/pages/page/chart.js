/* Charts of a page. A script that follows finds
 *   ropescope.chart(parent, spec)  lines with hover values, choice of lines, linear or log axes, zoom, keyboard, and the
 *                                  table of the numbers behind; spec {x: {name, unit, log, marks}, y: {name, unit, log},
 *                                  level: {name, value}, lines: [{name, colour, dash, x, y, low, high, samples, event}],
 *                                  bars: low and high are intervals},
 *                                  where y may hold null: no value; and, where there are such, rules: [{axis, value,
 *                                  name}] across, which y has room for, lines that are `dots` alone, say(x) in place of
 *                                  the readout (null: as it is), and table {columns: [{name, unit, summary}],
 *                                  values: {name: [...]}}. Gives {update(spec), showNames(set), element}.
 *   ropescope.dots(parent, spec)   the same of lines of one point: a row for each. Gives {element}.
 *   ropescope.number(value)        a number to six digits
 *   ropescope.element(tag, properties, children...)
 * All text of a spec is set as text, never as HTML. Without the library (window.Dygraph) a chart is its table. */
"use strict";

const ropescope = (() => {
  const FEW = 16; // as in the pictures: a mean of fewer samples is not joined
  const MARKS = 16; // lines of up to so many points show each
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const live = new Set();
  let ids = 0;

  function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
      if (key in node) node[key] = value;
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  }

  const number = (value) => (value === null || Number.isNaN(value) ? "–" : String(Number(value.toPrecision(6))));
  const exact = (value) => (value === null || Number.isNaN(value) ? "no value" : String(value));
  const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

  function tokens(value) {
    const mega = 1048576;
    if (value >= mega && value % (mega / 2) === 0) return `${value / mega}M`;
    if (value >= 1024 && value % 1024 === 0) return `${value / 1024}k`;
    return number(value);
  }

  const unitOf = (axis) => (axis.unit && axis.unit !== "1" ? ` (${axis.unit})` : "");
  const isDark = () => dark.matches;

  // Colours are made for white paper; those that black would swallow are mixed with white.
  function shade(colour) {
    if (!isDark()) return colour;
    const rgb = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
    const light = (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) / 255;
    const mix = Math.max(0, (0.92 - 0.6 * light - light) / (1 - light));
    return `rgb(${rgb.map((c) => Math.round(c + (255 - c) * mix)).join(",")})`;
  }

  function button(label, action) {
    const node = element("button", {type: "button", textContent: label});
    node.addEventListener("click", action);
    return node;
  }

  // The table behind a chart is made when it is first opened.
  function tableBehind(title, fill) {
    const details = element("details", {className: "behind"}, element("summary", {textContent: "Table of the numbers"}));
    const box = element("div", {className: "scroll", role: "region", tabIndex: 0, "aria-label": `Numbers: ${title}`});
    details.append(box);
    const refresh = () => details.open && box.replaceChildren(fill());
    details.addEventListener("toggle", refresh);
    return {details, refresh};
  }

  function table(head, rows) {
    const cell = (tag, text, scope) => element(tag, scope ? {textContent: text, scope} : {textContent: text});
    return element("table", {},
      element("thead", {}, element("tr", {}, ...head.map((text) => cell("th", text, "col")))),
      element("tbody", {}, ...rows.map((row) => element("tr", {},
        ...row.map((text, i) => (i === 0 ? cell("th", text, "row") : cell("td", text)))))));
  }

  /* ---- axes ----------------------------------------------------------------------------------------------------- */

  const labelOf = (axis) => {
    const marks = new Map((axis.marks || []).map(([at, name]) => [at, name]));
    return (value) => escape(marks.get(value) ?? (axis.unit === "tokens" ? tokens(value) : number(value)));
  };

  // Powers of two for tokens, of ten else, with 2 and 5 between where there is room.
  function logTicks(axis) {
    const base = axis.unit === "tokens" ? 2 : 10;
    return (low, high, pixels) => {
      const label = labelOf(axis);
      const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9), last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
      const step = Math.max(1, Math.ceil(((last - first) * 45) / pixels));
      const ticks = [];
      for (let e = first; e <= last; e += step) ticks.push({v: base ** e, label: label(base ** e)});
      if (ticks.length < 3) {
        for (let e = first - 1; e <= last; e++) {
          for (const part of base === 10 ? [2, 5] : [1.5]) {
            const v = part * base ** e;
            if (v >= low && v <= high) ticks.push({v, label: label(v)});
          }
        }
      }
      return ticks;
    };
  }

  function markTicks(axis) {
    return (low, high, pixels) => {
      const shown = axis.marks.filter(([at]) => at >= low && at <= high);
      const step = Math.ceil((shown.length * 60) / pixels);
      return shown.filter((_, i) => i % step === 0).map(([at, name]) => ({v: at, label: escape(name)}));
    };
  }

  /* ---- rows ----------------------------------------------------------------------------------------------------- */

  const hasBand = (spec) => spec.lines.some((line) => line.low);

  // A value with its interval, where it has one.
  const withInterval = (show, spec, line, i) => show(line.y[i]) +
    (spec.bars && line.low && line.high[i] > line.low[i] ? ` [${show(line.low[i])}, ${show(line.high[i])}]` : "");

  // Whether a number has no place on an axis.
  const isOff = (log, value) => log && value !== null && value <= 0;

  // One row for each x of any line; null: the line has no point there, NaN: it breaks there.
  function rowsOf(spec, xLog, yLog) {
    const band = hasBand(spec), rows = new Map();
    const at = (x) => {
      if (!rows.has(x)) rows.set(x, [x, ...spec.lines.map(() => (band ? [null, null, null] : null))]);
      return rows.get(x);
    };
    spec.lines.forEach((line, s) => {
      line.x.forEach((x, i) => {
        if (isOff(xLog, x)) return;
        const y = isOff(yLog, line.y[i]) ? NaN : line.y[i] ?? NaN;
        at(x)[s + 1] = band ? [line.low?.[i] ?? y, y, line.high?.[i] ?? y] : y;
        const few = (k) => line.samples && line.samples[k] > 0 && line.samples[k] < FEW;
        if (i > 0 && (few(i) || few(i - 1)) && !isOff(xLog, line.x[i - 1])) {
          const before = line.x[i - 1];
          at(xLog ? Math.sqrt(before * x) : (before + x) / 2)[s + 1] = band ? [NaN, NaN, NaN] : NaN;
        }
      });
    });
    return [...rows.values()].sort((a, b) => a[0] - b[0]);
  }

  /* Lines that lie on each other where they are drawn: for each line the list that it is of, in order. A pixel is
   * about one part in 400 of the height. */
  function togetherOf(spec, yLog, shown) {
    const to = (y) => (y === null || Number.isNaN(y) ? null : yLog ? Math.log(y) : y);
    const lists = [], of = spec.lines.map(() => []);
    let low = Infinity, high = -Infinity;
    spec.lines.forEach((line, s) => shown(s) && line.y.forEach((y) => {
      const at = to(y);
      if (at !== null && Number.isFinite(at)) [low, high] = [Math.min(low, at), Math.max(high, at)];
    }));
    const room = high > low ? (high - low) / 400 : 0;
    const near = (a, b) => (a === null || b === null ? a === b : a === b || Math.abs(a - b) <= room);
    const same = (a, b) => a.x.length === b.x.length && a.x.every((x, i) => x === b.x[i] && near(to(a.y[i]), to(b.y[i])));
    spec.lines.forEach((line, s) => {
      if (!shown(s) || line.y.every((y) => y === null)) return;
      let list = lists.find(([first]) => same(spec.lines[first], line));
      if (!list) lists.push((list = []));
      list.push(s);
      of[s] = list;
    });
    return of;
  }

  const STRIPE = 9; // pixels of a line that shows among those on it

  // The first is whole, the next leave gaps: each shows as stripes of equal length.
  function stripes(list, s) {
    const place = list.indexOf(s);
    return place > 0 ? [STRIPE * (list.length - place), STRIPE * place] : null;
  }

  /* How dygraphs reads rows of [low, mean, high] on a log axis. Its own handler leaves out each point whose band reaches
   * 0; here the mean is drawn, and the band ends at the axis. */
  const logBands = () => class extends Dygraph.DataHandlers.CustomBarsHandler {
    extractSeries(rows, column) {
      return rows.map((row) => [row[0], row[column][1], [row[column][0], row[column][2]]]);
    }

    getExtremeYValues(points) {
      const drawn = points.filter(([, mean]) => mean > 0);
      const shown = drawn.flatMap(([, mean, band]) => [mean, ...band]).filter((y) => y > 0);
      return shown.reduce(([low, high], y) => [Math.min(low ?? y, y), Math.max(high ?? y, y)], [null, null]);
    }

    onLineEvaluated(points, axis, log) {
      super.onLineEvaluated(points, axis, log);
      points.forEach((point) => { if (point.yval_minus <= 0) point.y_top = 1; }); // y_top is the low end's; 1 is the foot
    }
  };

  const hasPositive = (spec) => spec.lines.some((line) => line.y.some((y) => y > 0));
  const allXsOf = (spec) => [...new Set(spec.lines.flatMap((line) => line.x))].sort((a, b) => a - b);

  /* ---- lines ---------------------------------------------------------------------------------------------------- */

  class Chart {
    constructor(parent, spec) {
      this.hidden = new Set();
      this.cursor = {x: null, line: 0};
      this.axes = {x: spec.x.log, y: spec.y.log && hasPositive(spec)};
      this.id = `chart-${++ids}`;
      this.element = element("div", {className: "chart-box"});
      this.yName = element("p", {className: "axis-name"});
      this.xName = element("p", {className: "axis-name x-name"});
      this.plot = element("div", {className: "chart"});
      this.frame = element("div", {className: "frame", tabIndex: 0, role: "group", "aria-roledescription": "chart"}, this.plot);
      this.readout = element("output", {className: "readout", "aria-live": "polite"});
      this.legend = element("ul", {className: "legend", "aria-label": "Lines"});
      this.behind = tableBehind(spec.title || "", () => this.table());
      this.controls = element("div", {className: "controls"});
      this.element.append(this.controls, this.yName, this.frame, this.xName, this.readout, this.legend, this.behind.details);
      parent.append(this.element);
      this.frame.addEventListener("keydown", (event) => this.onKey(event));
      this.frame.addEventListener("focus", () => this.cursor.x === null && this.move(0, 0));
      this.plot.addEventListener("dblclick", (event) => { event.stopPropagation(); this.reset(); }, true);
      this.makeControls();
      this.set(spec);
      live.add(this);
    }

    makeControls() {
      const toggle = (axis) => {
        const box = element("input", {type: "checkbox", checked: this.axes[axis]});
        box.addEventListener("change", () => {
          this.axes[axis] = box.checked && (axis === "x" || hasPositive(this.spec));
          this.draw();
        });
        this[`${axis}Box`] = box;
        return element("label", {}, box, ` log ${axis}`);
      };
      this.controls.append(toggle("x"), toggle("y"), button("Reset zoom", () => this.reset()),
        button("All lines", () => this.choose(() => true)), button("No lines", () => this.choose(() => false)));
    }

    set(spec) {
      this.spec = spec;
      const {x, line} = this.cursor;
      this.frame.setAttribute("aria-label",
        `${spec.title || "Chart"}. Arrow keys read the values, plus and minus zoom, 0 shows all.`);
      this.cursor = {x: null, line: 0};
      this.readout.textContent = "";
      this.fillLegend();
      this.behind.refresh();
      this.draw();
      if (x !== null && spec.say) this.show(x, line);
    }

    update(spec) { this.set(spec); }

    fillLegend() {
      this.legend.replaceChildren(...this.spec.lines.map((line, s) => {
        const box = element("input", {type: "checkbox", checked: !this.hidden.has(line.name)});
        box.addEventListener("change", () => {
          if (box.checked) this.hidden.delete(line.name);
          else this.hidden.add(line.name);
          this.showLines();
        });
        const swatch = element("span", {className: "swatch", ariaHidden: "true"});
        const value = element("span", {className: "value"});
        const note = line.event === undefined ? "" : ` ◯ ${tokens(line.event)}`;
        const empty = line.y.every((y) => y === null) ? " (no data)" : "";
        const together = element("span", {className: "together soft"});
        const item = element("li", {}, element("label", {}, box, swatch, ` ${line.name}${empty}${note} `), together, value);
        item.addEventListener("mouseenter", () => this.highlight(s));
        return item;
      }));
      this.colourLegend();
    }

    colourLegend() {
      this.spec.lines.forEach((line, s) => {
        this.legend.children[s].querySelector(".swatch").style.borderTop =
          `3px ${line.dash && line.dash.length ? "dashed" : "solid"} ${shade(line.colour)}`;
      });
    }

    // The names of the axes, and what a log axis has no place for.
    nameAxes() {
      const {spec} = this, off = (axis) => spec.lines.some((line) => line[axis].some((value) => isOff(this.axes[axis], value)));
      this.yName.textContent = `${spec.y.name}${unitOf(spec.y)}${off("y") ? " · ▽ 0 or less" : ""}`;
      this.xName.textContent = `${off("x") ? "without 0 · " : ""}${spec.x.name}${unitOf(spec.x)}`;
    }

    // All x with a little room, on the scale of the axis.
    span(xs) {
      const least = xs[0], most = xs[xs.length - 1];
      if (this.axes.x) {
        const room = most > least ? (most / least) ** 0.03 : 1.5;
        return [least / room, most * room];
      }
      const room = most > least ? 0.03 * (most - least) : 0.5;
      return [least - room, most + room];
    }

    rules(axis) {
      return (this.spec.rules || []).filter((rule) => rule.axis === axis && !isOff(this.axes[axis], rule.value));
    }

    // The range of y: what the lines need (null), that and the rules, or any where a log axis has no line that it can show.
    range() {
      const log = this.axes.y, lines = this.visible().map((s) => this.spec.lines[s]);
      if (log && !lines.some((line) => line.y.some((y) => y > 0))) return [1, 10];
      if (this.rules("y").length === 0) return null;
      const ys = [...lines.flatMap((line) => [...line.y, ...(line.low || []), ...(line.high || [])]), ...this.rules("y").map((rule) => rule.value)]
        .filter((y) => y !== null && Number.isFinite(y) && !isOff(log, y)).map((y) => (log ? Math.log(y) : y));
      const low = Math.min(...ys), high = Math.max(...ys), room = high > low ? 0.05 * (high - low) : 0.5;
      return [low - room, high + room].map((y) => (log ? Math.exp(y) : y));
    }

    // How each line is drawn; those that lie on each other take turns.
    seriesOf() {
      const {spec} = this, series = {};
      this.together = togetherOf(spec, this.axes.y, (s) => !this.hidden.has(spec.lines[s].name));
      spec.lines.forEach((line, s) => {
        const points = line.x.length <= MARKS || line.dots, list = this.together[s];
        const dash = line.dash && line.dash.length ? line.dash : null;
        series[`s${s}`] = {strokePattern: list.length > 1 ? stripes(list, s) : dash, drawPoints: points,
          pointSize: 3, strokeWidth: line.dots || this.spec.form === "dots" ? 0 : 1.8};
      });
      this.nameTogether();
      return series;
    }

    namesWith(s) {
      return (this.together?.[s] ?? []).filter((k) => k !== s).map((k) => this.spec.lines[k].name);
    }

    nameTogether() {
      this.spec.lines.forEach((_, s) => {
        const names = this.namesWith(s), node = this.legend.children[s].querySelector(".together");
        node.textContent = names.length > 2 ? ` = ${names[0]} and ${names.length - 1} more`
          : names.length > 0 ? ` = ${names.join(", ")}` : "";
        node.title = names.length > 0 ? `on the same line: ${names.join(", ")}` : "";
      });
    }

    options() {
      const {spec} = this, ink = getComputedStyle(document.documentElement);
      const colour = (name) => ink.getPropertyValue(name).trim();
      const xLog = this.axes.x, yLog = this.axes.y, marks = spec.x.marks && spec.x.marks.length > 0;
      const series = this.seriesOf();
      const axisLook = {axisLineColor: colour("--soft"), gridLineColor: colour("--line")};
      const rows = rowsOf(spec, xLog, yLog);
      this.window = rows.length > 0 ? this.span(rows.map((row) => row[0])) : [1, 2];
      return {
        file: rows, labels: ["x", ...spec.lines.map((_, s) => `s${s}`)],
        customBars: hasBand(spec), dataHandler: yLog && hasBand(spec) ? logBands() : null,
        connectSeparatedPoints: true, legend: "never", logscale: yLog,
        colors: spec.lines.map((line) => shade(line.colour)), series,
        visibility: spec.lines.map((line) => !this.hidden.has(line.name)),
        highlightCircleSize: 4, highlightSeriesOpts: {strokeWidth: 3.2}, highlightSeriesBackgroundAlpha: 1,
        dateWindow: this.window, valueRange: this.range(), yRangePad: 8, labelsKMB: false, fillAlpha: spec.bars ? 0 : 0.12, animatedZooms: false,
        axes: {
          x: {...axisLook, logscale: xLog, axisLabelWidth: 60, axisLabelFormatter: labelOf(spec.x),
            ticker: marks ? markTicks(spec.x) : xLog ? logTicks(spec.x) : Dygraph.numericTicks},
          y: {...axisLook, axisLabelWidth: 58, axisLabelFormatter: labelOf(spec.y),
            ticker: yLog ? logTicks(spec.y) : Dygraph.numericTicks},
        },
        underlayCallback: (canvas, area, graph) => this.drawMarks(canvas, area, graph),
        highlightCallback: (_, x, points, row, name) => this.show(x, Number(name.slice(1))),
        unhighlightCallback: () => {},
      };
    }

    draw() {
      this.xBox.checked = this.axes.x;
      this.yBox.checked = this.axes.y;
      this.nameAxes();
      if (!window.Dygraph) {
        this.controls.hidden = true;
        this.frame.hidden = true;
        this.behind.details.open = true;
        return;
      }
      const options = this.options();
      if (options.file.length === 0) options.file = [[1, ...this.spec.lines.map(() => (hasBand(this.spec) ? [null, null, null] : null))]];
      if (this.graph) this.graph.destroy();
      const {file, ...rest} = options;
      this.graph = new Dygraph(this.plot, file, rest);
      this.element.classList.toggle("dark", isDark());
      this.colourLegend();
    }

    // A triangle at the foot of a log axis for each value that is 0 or less.
    drawOff(canvas, area, graph) {
      this.visible().forEach((s) => this.spec.lines[s].x.forEach((x, i) => {
        const at = graph.toDomXCoord(x), foot = area.y + area.h;
        if (!isOff(this.axes.y, this.spec.lines[s].y[i]) || !(at >= area.x && at <= area.x + area.w)) return;
        canvas.strokeStyle = shade(this.spec.lines[s].colour);
        canvas.beginPath();
        canvas.moveTo(at - 5, foot - 9);
        canvas.lineTo(at + 5, foot - 9);
        canvas.lineTo(at, foot - 1);
        canvas.closePath();
        canvas.stroke();
      }));
    }

    // Intervals as bars with caps.
    drawBars(canvas, area, graph) {
      this.visible().map((s) => this.spec.lines[s]).forEach((line) => line.x.forEach((x, i) => {
        const share = this.shareOf(graph, x), at = area.x + share * area.w;
        if (!line.low || !(line.high[i] > line.low[i]) || !(share >= 0 && share <= 1) || isOff(this.axes.y, line.low[i])) return;
        const [low, high] = [line.low[i], line.high[i]].map((y) => graph.toDomYCoord(y));
        canvas.strokeStyle = shade(line.colour);
        canvas.beginPath();
        canvas.moveTo(at, low);
        canvas.lineTo(at, high);
        [low, high].forEach((y) => { canvas.moveTo(at - 4, y); canvas.lineTo(at + 4, y); });
        canvas.stroke();
      }));
    }

    // How far along the axis an x is.
    shareOf(graph, x) {
      const to = this.axes.x ? Math.log : (value) => value, [low, high] = graph.xAxisRange().map(to);
      return (to(x) - low) / (high - low);
    }

    // A level and rules across, and a ring where something happens to a line.
    drawMarks(canvas, area, graph) {
      const {level} = this.spec;
      canvas.save();
      canvas.strokeStyle = canvas.fillStyle = isDark() ? "#aaa" : "#666";
      canvas.setLineDash([4, 4]);
      const across = (x1, y1, x2, y2, name) => {
        canvas.beginPath();
        canvas.moveTo(x1, y1);
        canvas.lineTo(x2, y2);
        canvas.stroke();
        canvas.fillText(name, x1 + 4, y1 - 4);
      };
      [...(level ? [level] : []), ...this.rules("y")].forEach((rule) => {
        const y = graph.toDomYCoord(rule.value);
        if (Number.isFinite(y)) across(area.x, y, area.x + area.w, y, rule.name);
      });
      this.rules("x").forEach((rule) => {
        const share = this.shareOf(graph, rule.value), x = area.x + share * area.w;
        if (share >= 0 && share <= 1) across(x, area.y + 12, x, area.y + area.h, rule.name);
      });
      canvas.setLineDash([]);
      this.drawOff(canvas, area, graph);
      if (this.spec.bars) this.drawBars(canvas, area, graph);
      this.spec.lines.forEach((line) => {
        const y = this.axes.y ? NaN : graph.toDomYCoord(0); // what happens is that a line passes zero
        if (line.event === undefined || this.hidden.has(line.name) || !Number.isFinite(y)) return;
        const share = this.shareOf(graph, line.event);
        if (!(share >= 0 && share <= 1)) return;
        canvas.strokeStyle = shade(line.colour);
        canvas.beginPath();
        canvas.arc(area.x + share * area.w, y, 5, 0, 2 * Math.PI);
        canvas.stroke();
      });
      canvas.restore();
    }

    visible() { return this.spec.lines.map((line, s) => s).filter((s) => !this.hidden.has(this.spec.lines[s].name)); }

    // The values of all lines at x in the legend, and that of one, with all its digits, in the readout.
    show(x, s) {
      const {spec} = this;
      if (!spec.lines.some((line) => line.x.includes(x))) return;
      this.cursor = {x, line: s};
      spec.lines.forEach((line, k) => {
        const i = line.x.indexOf(x), item = this.legend.children[k];
        item.querySelector(".value").textContent = i < 0 ? "" : number(line.y[i]);
        item.classList.toggle("near", k === s);
      });
      const said = spec.say ? spec.say(x) : null;
      if (said !== null) { this.readout.textContent = said; return; }
      const line = spec.lines[s], i = line ? line.x.indexOf(x) : -1;
      const mark = new Map((spec.x.marks || [])).get(x);
      const band = i >= 0 && line.low && line.high[i] > line.low[i] ? `, ${exact(line.low[i])} to ${exact(line.high[i])}` : "";
      const samples = i >= 0 && line.samples ? `, n = ${line.samples[i]}` : "";
      this.readout.textContent = `${spec.x.name} ${mark ?? exact(x)}${mark ? "" : spec.x.unit && spec.x.unit !== "1" ? ` ${spec.x.unit}` : ""}` +
        (line ? ` · ${line.name}: ${i < 0 ? "no value" : exact(line.y[i])}${band}${samples}` : "") +
        (line && this.namesWith(s).length > 0 ? ` · on the same line: ${this.namesWith(s).join(", ")}` : "");
    }

    highlight(s) {
      if (this.graph && this.cursor.x !== null) this.select(this.cursor.x, s);
    }

    select(x, s) {
      const row = this.graph ? this.graph.getRowForX(x) : null;
      if (row !== null && row >= 0) this.graph.setSelection(row, `s${s}`);
      this.show(x, s);
    }

    move(dx, dy) {
      const lines = this.visible();
      if (lines.length === 0) return;
      let at = Math.max(0, lines.indexOf(this.cursor.line)) + dy;
      const s = lines[(at + lines.length) % lines.length], line = this.spec.lines[s];
      const xs = line.x.filter((x) => !(this.axes.x && !(x > 0)));
      if (xs.length === 0) { this.cursor.line = s; return; }
      let i = this.cursor.x === null ? 0 : xs.findIndex((x) => x >= this.cursor.x);
      i = Math.max(0, Math.min(xs.length - 1, (i < 0 ? xs.length - 1 : i) + dx));
      this.select(xs[i], s);
    }

    onKey(event) {
      const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [-10, 0], PageDown: [10, 0],
        Home: [-1e9, 0], End: [1e9, 0]};
      if (moves[event.key]) this.move(...moves[event.key]);
      else if (event.key === "+") this.zoom(0.5);
      else if (event.key === "-") this.zoom(2);
      else if (event.key === "0" || event.key === "Escape") this.reset();
      else return;
      event.preventDefault();
    }

    // Around the cursor, on the scale of the axis.
    zoom(share) {
      if (!this.graph) return;
      const to = this.axes.x ? Math.log : (x) => x, from = this.axes.x ? Math.exp : (x) => x;
      const [low, high] = this.graph.xAxisRange().map(to), [least, most] = this.window.map(to);
      const middle = this.cursor.x > 0 || !this.axes.x ? to(this.cursor.x ?? from((low + high) / 2)) : (low + high) / 2;
      const half = ((high - low) / 2) * share;
      this.graph.updateOptions({dateWindow: [from(Math.max(least, middle - half)), from(Math.min(most, middle + half))]});
    }

    reset() {
      if (this.graph) this.graph.updateOptions({dateWindow: this.window, valueRange: this.range()});
    }

    choose(wanted) {
      this.spec.lines.forEach((line) => (wanted(line.name) ? this.hidden.delete(line.name) : this.hidden.add(line.name)));
      this.showLines();
    }

    // Names outside of `names` are hidden.
    showNames(names) { this.choose((name) => names.has(name)); }

    showLines() {
      this.spec.lines.forEach((line, s) => {
        this.legend.children[s].querySelector("input").checked = !this.hidden.has(line.name);
      });
      const series = this.seriesOf(), visibility = this.spec.lines.map((line) => !this.hidden.has(line.name));
      const range = this.range(), held = range || this.held ? {valueRange: range} : {}; // else a zoom stays
      this.held = range;
      if (this.graph) this.graph.updateOptions({visibility, series, ...held});
    }

    table() {
      const {spec} = this, marks = new Map(spec.x.marks || []), {columns, values} = spec.table || {};
      if (columns) {
        const node = table(columns.map((column) => column.name), values[columns[0].name].map((_, row) => columns.map((column) => {
          const value = values[column.name][row];
          return value === null ? "" : exact(value);
        })));
        columns.forEach(({unit, summary}, i) => { node.tHead.rows[0].cells[i].title = `${summary}${unitOf({unit})}`; });
        return node;
      }
      const places = spec.lines.map((line) => new Map(line.x.map((x, i) => [x, i])));
      return table([`${spec.x.name}${unitOf(spec.x)}`, ...spec.lines.map((line) => line.name)],
        allXsOf(spec).map((x) => [marks.get(x) ?? exact(x), ...spec.lines.map((line, s) => {
          const i = places[s].get(x);
          return i === undefined || line.y[i] === null ? "" : withInterval(exact, spec, line, i);
        })]));
    }

    // For another scheme of colours.
    recolour() {
      if (this.graph && this.plot.offsetWidth > 0 && !window.matchMedia("print").matches) this.draw();
    }
  }

  /* ---- dots ----------------------------------------------------------------------------------------------------- */

  // A row for each line of one point, placed between the least and the largest; the table is the chart.
  function dots(parent, spec) {
    const values = spec.lines.map((line) => line.y.find((y) => y !== null) ?? null);
    const known = [...values, ...(spec.bars ? spec.lines.flatMap((line) => [...(line.low || []), ...(line.high || [])]) : [])]
      .filter((value) => value !== null);
    const log = spec.y.log && known.every((value) => value > 0), to = log ? Math.log : (value) => value;
    const low = to(Math.min(...known)), high = to(Math.max(...known));
    const bands = [], shareOf = (value) => (high > low ? (100 * (to(value) - low)) / (high - low) : 50);
    const rows = spec.lines.map((line, s) => {
      const track = element("span", {className: "track", ariaHidden: "true"}), dot = element("i");
      if (values[s] !== null) {
        dot.style.left = `${shareOf(values[s])}%`;
        dot.style.background = line.colour;
        if (spec.bars && line.low && line.high[0] > line.low[0]) {
          const bar = element("b");
          bar.style.left = `${shareOf(line.low[0])}%`;
          bar.style.width = `${shareOf(line.high[0]) - shareOf(line.low[0])}%`;
          bar.style.background = line.colour;
          track.append(bar);
        }
        track.append(dot);
        bands[s] = line.low && line.high[0] > line.low[0] ? `, ${exact(line.low[0])} to ${exact(line.high[0])}` : "";
      }
      return element("tr", {title: values[s] === null ? "no value" : `${exact(values[s])}${bands[s]}`},
        element("th", {scope: "row", textContent: line.name}), element("td", {className: "wide"}, track),
        element("td", {className: "number",
          textContent: values[s] === null ? number(null) : withInterval(number, spec, line, line.y.indexOf(values[s]))}));
    });
    const box = element("div", {className: "chart-box scroll"},
      element("table", {className: "dots"}, element("thead", {}, element("tr", {}, element("th", {scope: "col", textContent: "method"}),
        element("td", {className: "soft small", textContent: log ? "log" : ""}),
        element("th", {scope: "col", className: "number", textContent: `${spec.y.name}${unitOf(spec.y)}`}))), element("tbody", {}, ...rows)));
    parent.append(box);
    return {element: box};
  }

  // A chart that is drawn as the browser prepares a print stays blank there, so style turns dark ones round for paper.
  dark.addEventListener("change", () => live.forEach((chart) => chart.recolour()));

  return {chart: (parent, spec) => new Chart(parent, spec), dots, element, number, exact, tokens, unitOf, button, table, tableBehind,
    charts: live};
})();
