/* Maps of a page: ropescope.heat(parent, spec, colours) shows values by method, panel, y and x, one map for each method
 * and panel, read by the mouse or the arrow keys, with the table of the numbers behind; spec as rs_plot_views_read gives
 * it. Gives {update(spec), element}. */
"use strict";

ropescope.heat = (() => {
  const {element, exact, number, table, tableBehind, unitOf} = ropescope;

  class Heat {
    constructor(parent, spec, colours) {
      this.colours = colours.map((c) => [c >> 16, (c >> 8) & 255, c & 255]);
      this.element = element("div", {className: "chart-box heat"});
      this.maps = element("div", {className: "maps"});
      this.readout = element("output", {className: "readout", "aria-live": "polite"});
      this.places = element("p", {className: "soft small"});
      this.scale = element("div", {className: "scale"});
      this.behind = tableBehind(spec.title || "", () => this.table());
      this.element.append(this.maps, this.places, this.scale, this.readout, this.behind.details);
      parent.append(this.element);
      this.update(spec);
    }

    update(spec) {
      this.spec = spec;
      this.readout.textContent = "";
      const panels = spec.panel.values, figures = [];
      spec.methods.forEach((method, m) => panels.forEach((panel, p) => figures.push(this.map(m, p))));
      this.maps.replaceChildren(...figures);
      const ends = (axis) => `${axis.name}: ${number(axis.values[0])} to ${number(axis.values[axis.values.length - 1])}`;
      this.places.textContent = `To the right ${ends(spec.x)}${spec.y.values.length > 1 ? `; downwards ${ends(spec.y)}` : ""}`;
      const ramp = this.colours.map((c) => `rgb(${c.join(",")})`).join(",");
      const bar = element("span", {className: "bar", ariaHidden: "true"});
      bar.style.backgroundImage = `linear-gradient(to right, ${ramp})`;
      this.scale.replaceChildren(`${spec.value.name}${unitOf(spec.value)}: ${spec.value.floor ? "at most " : ""}${number(spec.value.low)} `, bar, ` ${number(spec.value.high)}`,
        this.isLog() ? " (log)" : "", spec.absent.length > 0 ? ` · no value: ${spec.absent.join(", ")}` : "");
      this.behind.refresh();
    }

    isLog() { return this.spec.value.log && this.spec.value.low > 0; }

    at(m, p, y, x) {
      const {spec} = this, width = spec.x.values.length, height = spec.y.values.length;
      return spec.values[((m * spec.panel.values.length + p) * height + y) * width + x];
    }

    colourOf(value) {
      const {low, high} = this.spec.value, to = this.isLog() ? Math.log : (v) => v;
      const share = high > low ? (to(value) - to(low)) / (to(high) - to(low)) : 0.5;
      return this.colours[Math.max(0, Math.min(this.colours.length - 1, Math.round(share * (this.colours.length - 1))))];
    }

    map(m, p) {
      const {spec} = this, width = spec.x.values.length, height = spec.y.values.length;
      const share = (spec.shares || [])[m * spec.panel.values.length + p] ?? null;
      const name = spec.methods[m] + (spec.panel.name ? ` · ${spec.panel.name} ${number(spec.panel.values[p])}` : "")
        + (share === null ? "" : `: ${(100 * share).toPrecision(3)} %`);
      const canvas = element("canvas", {width, height, tabIndex: 0, role: "img",
        "aria-label": `${spec.title || "Map"}: ${name}, ${height} by ${width} cells. Arrow keys read the values.`});
      const pen = canvas.getContext("2d"), image = pen.createImageData(width, height);
      for (let i = 0; i < width * height; i++) {
        const value = this.at(m, p, Math.floor(i / width), i % width);
        if (value !== null) image.data.set([...this.colourOf(value), 255], 4 * i);
      }
      pen.putImageData(image, 0, 0);
      const box = element("div", {className: "map"}, canvas);
      if (height === 1) canvas.classList.add("strip");
      else canvas.style.aspectRatio = String(Math.max(0.75, Math.min(2, width / height)));
      const mark = (spec.marks || [])[p] ?? null;
      if (mark !== null) {
        const dot = element("i", {className: "mark"});
        dot.style.left = `${(100 * ((mark % width) + 0.5)) / width}%`;
        dot.style.top = `${(100 * (Math.floor(mark / width) + 0.5)) / height}%`;
        box.append(dot);
      }
      const cursor = {x: 0, y: 0};
      const tell = () => {
        const y = height > 1 ? `, ${spec.y.name} ${exact(spec.y.values[cursor.y])}` : "";
        this.readout.textContent = `${name} · ${spec.x.name} ${exact(spec.x.values[cursor.x])}${y}: ${exact(this.at(m, p, cursor.y, cursor.x))}`;
      };
      const go = (x, y) => {
        cursor.x = Math.max(0, Math.min(width - 1, x));
        cursor.y = Math.max(0, Math.min(height - 1, y));
        tell();
      };
      canvas.addEventListener("mousemove", (event) => {
        const box = canvas.getBoundingClientRect();
        go(Math.floor(((event.clientX - box.left) / box.width) * width), Math.floor(((event.clientY - box.top) / box.height) * height));
      });
      canvas.addEventListener("focus", tell);
      canvas.addEventListener("keydown", (event) => {
        const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
        if (!step) return;
        go(cursor.x + step[0], cursor.y + step[1]);
        event.preventDefault();
      });
      return element("figure", {}, element("figcaption", {textContent: name}), box);
    }

    table() {
      const {spec} = this, rows = [], several = spec.panel.values.length > 1, high = spec.y.values.length > 1;
      spec.methods.forEach((method, m) => spec.panel.values.forEach((panel, p) => spec.y.values.forEach((y, k) => {
        const place = `${method}${several ? ` · ${spec.panel.name} ${number(panel)}` : ""}${high ? ` · ${spec.y.name} ${number(y)}` : ""}`;
        rows.push([place, ...spec.x.values.map((_, x) => { const v = this.at(m, p, k, x); return v === null ? "" : exact(v); })]);
      })));
      return table([spec.x.name, ...spec.x.values.map(number)], rows);
    }
  }

  return (parent, spec, colours) => new Heat(parent, spec, colours);
})();
