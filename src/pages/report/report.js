/* The page of a report: its table sorts, its charts are unpacked and drawn when they come into view, its files download. */
"use strict";

(() => {
  const {element, tokens, button} = ropescope;
  const data = JSON.parse(document.getElementById("report").textContent);

  /* ---- packed bytes --------------------------------------------------------------------------------------------- */

  async function unpack(id) {
    const letters = atob(document.getElementById(id).textContent);
    const bytes = Uint8Array.from(letters, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function offerFiles() {
    for (const link of document.querySelectorAll("a.csv")) {
      link.hidden = false;
      link.href = "#files";
      link.setAttribute("download", link.dataset.name);
      link.addEventListener("click", async (event) => {
        if (link.href.startsWith("blob:")) return;
        event.preventDefault();
        link.href = URL.createObjectURL(new Blob([await unpack(link.dataset.packed)], {type: "text/csv"}));
        link.click();
      });
    }
  }

  /* ---- the table ------------------------------------------------------------------------------------------------ */

  // Numbers before words before nothing, which stays last in both directions.
  function compare(a, b, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    const x = Number(a), y = Number(b);
    if (!Number.isNaN(x) && !Number.isNaN(y)) return sign * (x - y);
    return sign * a.localeCompare(b, undefined, {numeric: true});
  }

  function sortTable(body, column, sign) {
    const rows = [...body.rows].map((row) => [row.cells[column].textContent, row]);
    rows.sort((a, b) => compare(a[0], b[0], sign));
    body.append(...rows.map(([, row]) => row));
  }

  function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const press = element("button", {type: "button", className: "sort"}, ...head.childNodes);
      head.append(press);
      press.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        sortTable(table.tBodies[0], column, sign);
      });
    });
  }

  function offerLengths(table) {
    const rows = [...table.tBodies[0].rows];
    const lengths = [...new Set(rows.map((row) => row.dataset.length))].filter(Boolean).map(Number).sort((a, b) => a - b);
    if (lengths.length < 2) return;
    const longest = rows.some((row) => row.hidden) && new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.length)).size > 1;
    const select = element("select", {}, ...(longest ? [new Option("each folder's longest", "longest")] : []),
      new Option("all lengths", "all"), ...lengths.map((length) => new Option(`${tokens(length)} tokens`, String(length))));
    select.value = longest ? "longest" : String(lengths[lengths.length - 1]);
    const shown = new Set(rows.filter((row) => !row.hidden));
    select.addEventListener("change", () => rows.forEach((row) => {
      row.hidden = select.value === "longest" ? !shown.has(row) : select.value !== "all" && row.dataset.length !== select.value;
    }));
    table.parentElement.before(element("div", {className: "controls"}, element("label", {}, "Length: ", select)));
  }

  /* ---- charts --------------------------------------------------------------------------------------------------- */

  // Views of one group are the same chart at several lengths. A list of charts for each that folders have in common.
  function chartsOf(folders) {
    const charts = new Map();
    folders.forEach((views, folder) => views.forEach((view) => {
      const key = `${view.file}\n${view.column}\n${view.group.replace(/--[0-9.]+[kM]?$/, "")}`;
      if (!charts.has(key)) charts.set(key, new Map());
      const byFolder = charts.get(key), name = `${folder}\n${view.group}`;
      if (!byFolder.has(name)) byFolder.set(name, {folder, views: []});
      byFolder.get(name).views.push(view);
    }));
    return [...charts.values()].map((byFolder) => [...byFolder.values()].sort((a, b) => a.folder - b.folder));
  }

  const formOf = (view) => {
    if (view.form === "heat" || view.form === "strips") return "map";
    return view.form === "dots" && view.x.marks.length === 0 ? "dots" : "lines";
  };

  class Card {
    constructor({folder, views}, chosen) {
      this.views = views;
      this.chosen = chosen;
      this.at = views.length - 1;
      this.title = element("h3");
      this.subtitle = element("p", {className: "soft small"});
      this.definition = element("p", {className: "small"});
      this.head = element("div", {className: "controls"});
      this.body = element("div", {className: "body"});
      this.element = element("article", {className: "card", id: `chart-${folder}-${views[0].group}`});
      if (data.folders.length > 1) this.element.append(element("p", {className: "folder", textContent: data.folders[folder]}));
      this.element.append(this.title, this.definition, this.subtitle, this.head, this.body);
      this.words = `${data.folders[folder]} ${views[0].file} ${views[0].column} ${views[0].title} ${views[0].subtitle}`.toLowerCase();
      if (views.length > 1) this.offerLengths();
      this.setWords();
    }

    offerLengths() {
      const select = element("select", {}, ...this.views.map((view, i) => new Option(`${tokens(view.length)} tokens`, String(i))));
      select.value = String(this.at);
      select.addEventListener("change", () => {
        this.at = Number(select.value);
        this.setWords();
        this.show();
      });
      this.head.append(element("label", {}, "Length: ", select));
    }

    setWords() {
      const view = this.views[this.at];
      this.title.textContent = view.title;
      this.definition.textContent = view.definition;
      this.subtitle.textContent = view.subtitle;
    }

    // Draws, once it is seen; a form that changes with the length needs another chart.
    show() {
      const view = this.views[this.at], form = formOf(view);
      if (this.form === form && form !== "dots") {
        this.chart.update(view);
      } else {
        this.body.replaceChildren();
        if (form === "map") this.chart = ropescope.heat(this.body, view, data.colours);
        else if (form === "dots") this.chart = ropescope.dots(this.body, view);
        else this.chart = ropescope.chart(this.body, view);
        this.form = form;
      }
      this.element.classList.toggle("wide", form === "map" && view.methods.length * view.panel.values.length > 4 && view.y.values.length > 1);
      if (this.chosen.names !== null) this.choose();
    }

    choose() {
      if (this.form === "lines") this.chart.showNames(this.chosen.names);
    }
  }

  function offerMethods(cards, chosen, folders) {
    const names = [...new Set(folders.flat().flatMap((view) => (view.lines || []).map((line) => line.name)))];
    const box = element("fieldset", {className: "methods"}, element("legend", {textContent: "Lines in all charts"}));
    const inputs = names.map((name) => element("input", {type: "checkbox", checked: true, value: name}));
    const apply = () => {
      chosen.names = new Set(inputs.filter((input) => input.checked).map((input) => input.value));
      cards.filter((card) => card.form).forEach((card) => card.choose());
    };
    const all = (checked) => () => { inputs.forEach((input) => { input.checked = checked; }); apply(); };
    inputs.forEach((input) => input.addEventListener("change", apply));
    const list = element("div", {className: "chips"}, ...inputs.map((input) => element("label", {}, input, ` ${input.value}`)));
    box.append(list, button("All", all(true)), button("None", all(false)));
    return box;
  }

  function offerFilter(cards) {
    const input = element("input", {type: "search", placeholder: "needle, entropy, gaussian …"});
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      cards.forEach((card) => { card.element.hidden = !words.every((word) => card.words.includes(word)); });
    });
    return element("label", {}, "Charts with the words: ", input);
  }

  // What is not in view is drawn when there is time, for paper: a print does not wait.
  function drawRest(cards, draw) {
    const later = window.requestIdleCallback || ((task) => setTimeout(task, 30));
    const next = () => {
      const card = cards.find((one) => !one.form && !one.element.hidden);
      if (!card) { document.documentElement.dataset.ready = "all"; return; }
      draw(card);
      later(next);
    };
    later(next);
  }

  async function drawCharts() {
    const folders = [];
    for (let i = 0; i < data.folders.length; i++) folders.push(JSON.parse(await unpack(`views-${i}-0`)));
    const chosen = {names: null}, place = document.getElementById("cards");
    const rows = chartsOf(folders).map((charts) => charts.map((chart) => new Card(chart, chosen)));
    const cards = rows.flat();
    const draw = (card) => { if (!card.form) card.show(); };
    const seen = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
      seen.unobserve(entry.target);
      draw(cards.find((card) => card.element === entry.target));
    }), {rootMargin: "400px"});
    place.before(element("div", {className: "controls wide"}, offerFilter(cards), offerMethods(cards, chosen, folders)));
    if (folders.length > 1) {
      place.className = "rows";
      place.append(...rows.map((row) => element("div", {className: "cards"}, ...row.map((card) => card.element))));
    } else {
      place.append(...cards.map((card) => card.element));
    }
    cards.forEach((card) => seen.observe(card.element));
    document.documentElement.dataset.ready = "charts";
    drawRest(cards, draw);
  }

  const table = document.getElementById("summary");
  makeSortable(table);
  offerLengths(table);
  offerFiles();
  if (data.charts) {
    drawCharts().catch((error) => {
      document.getElementById("cards").append(element("p", {className: "bad",
        textContent: `The charts could not be drawn (${error.message}); ropescope plot draws them as pictures.`}));
    });
  }
})();
