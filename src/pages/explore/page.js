/* The page of ropescope explore. It holds what was chosen, asks the program for every number, and draws what it says. */
"use strict";

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

const byId = (id) => document.getElementById(id);
const steps = 240; /* of a slider */
let choices, charts, state, answer = null, plain = { key: null, length: 0, answer: null };
let asking = false, again = null, fields = new Map(), movedAt = null;

/* ---- what was chosen --------------------------------------------------------------------------------------------- */

const ownNames = ["model", "layers", "head_dim", "method", "length"];
const methodOf = (name) => choices.methods.find((m) => m.name === name);
const modelOf = (name) => choices.models.find((m) => m.name === name);

function sharedOf(method) {
  return [...(method.rotary ? choices.every_rotary_method : []), ...choices.every_method];
}

/* What a fragment or the program's own beginning says, without what is not known here. */
function readState(query) {
  const read = new Map();
  for (const [name, value] of new URLSearchParams(query)) if (!read.has(name)) read.set(name, value);
  return read;
}

function queryOf(of) {
  return new URLSearchParams([...of]).toString();
}

function set(name, value) {
  if (value === null) state.delete(name);
  else state.set(name, value);
}

/* Another method has other parameters; those that both have stay. */
function chooseMethod(name) {
  const kept = new Set([...ownNames, ...methodOf(name).parameters.map((p) => p.name), ...sharedOf(methodOf(name)).map((p) => p.name)]);
  for (const known of [...state.keys()]) if (!kept.has(known)) state.delete(known);
  state.set("method", name);
  buildFields();
}

/* Another model begins with what it publishes, and at its length. */
function chooseModel(name) {
  const model = modelOf(name);
  for (const known of [...state.keys()]) if (known !== "method") state.delete(known);
  state.set("model", name);
  state.set("length", String(model.length));
  if (model.publishes) state.set("method", model.publishes);
  buildFields();
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* One question is on its way at a time; of those that come meanwhile the last is asked next. */
function ask() {
  const query = queryOf(state);
  if (movedAt === null) movedAt = performance.now();
  history.replaceState(null, "", `#${query}`);
  if (asking) again = query;
  else void send(query);
}

async function send(query) {
  asking = true;
  const began = movedAt;
  movedAt = null;
  try {
    const response = await fetch(`answer?${query}`);
    const said = await response.json();
    if (response.ok) {
      await askPlain(query, said.length_tokens);
      accept(said, query, began);
    } else {
      refuse(said);
    }
  } catch {
    refuse({ error: "The program does not answer: it has ended, or is to be started again (its address is then another).", parameter: null });
  }
  asking = false;
  const next = again;
  again = null;
  if (next !== null) void send(next);
}

/* What plain RoPE does is another question, whose answer holds for all methods and shorter lengths. It is asked before
 * the charts are drawn, so that a move draws each of them once. */
async function askPlain(query, tokens) {
  const wanted = new Map([...readState(query)].filter(([name]) => ["model", "layers", "head_dim", "train_length"].includes(name)));
  wanted.set("method", "rope");
  const key = queryOf(wanted);
  if (key === plain.key && tokens <= plain.length) return;
  let length = 4096;
  while (length < tokens) length *= 4;
  length = Math.min(length, choices.longest);
  const response = await fetch(`answer?${key}&length=${length}`);
  plain = { key, length, answer: response.ok ? await response.json() : null };
}

function accept(said, query, began) {
  answer = said;
  byId("problem").hidden = true;
  document.body.classList.remove("stale");
  markWrong(null);
  showFields();
  showWords();
  drawFrequencies();
  drawAngles();
  drawDecay();
  document.body.dataset.answered = query;
  if (began !== null) requestAnimationFrame(() => tellTime(performance.now() - began));
}

/* From the change to the frame that shows it. */
function tellTime(took) {
  document.body.dataset.redraw = took.toFixed(1);
  byId("status").textContent = `Drawn anew in ${Math.round(took)} ms.`;
}

function refuse(said) {
  byId("problem").textContent = said.error;
  byId("problem").hidden = false;
  document.body.classList.add("stale");
  document.body.dataset.answered = "";
  showFields();
  markWrong(said.parameter);
}

function markWrong(name) {
  for (const [known, field] of fields) {
    if (known === name) {
      field.input.setAttribute("aria-invalid", "true");
      const fold = field.box.closest("details");
      if (fold) fold.open = true;
    }
    else field.input.removeAttribute("aria-invalid");
  }
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* Where a slider's steps lead: even steps where the range is small or begins at 0, else even ratios around the value. */
function rangeOf(spec, value) {
  const whole = spec.type === "integer";
  if (spec.slider) return { ...spec.slider, whole };
  if (spec.max <= 1000 && (spec.min <= 0 || spec.max / spec.min <= 100)) return { low: spec.min, high: spec.max, log: false, whole };
  const middle = value > 0 ? value : 1, ratio = 32;
  return { low: Math.max(spec.min, middle / ratio), high: Math.min(spec.max, middle * ratio), log: true, whole };
}

function valueAt(range, position) {
  const share = position / steps;
  let value = range.log ? range.low * (range.high / range.low) ** share : range.low + (range.high - range.low) * share;
  if (range.step) value = Math.round(value / range.step) * range.step;
  if (range.whole) return Math.round(value);
  return Number(value.toPrecision(4));
}

function positionOf(range, value) {
  const share = range.log ? Math.log(value / range.low) / Math.log(range.high / range.low) : (value - range.low) / (range.high - range.low);
  return Math.min(steps, Math.max(0, share * steps)) || 0;
}

function changed(field, value) {
  set(field.name, value);
  movedAt = performance.now();
  ask();
}

/* A field of one parameter: {name, type, unit, min, max, words, default, summary}. */
function makeField(spec, parent) {
  const box = element("div", { className: "field" }, parent), id = `p-${spec.name}`;
  const label = element("label", { htmlFor: id }, box), row = element("div", { className: "row" }, box);
  const field = { name: spec.name, spec, box, slider: null, range: null };
  element("span", { textContent: spec.title || spec.name, title: spec.summary || "" }, label);
  element("span", { className: "unit", textContent: spec.unit && spec.unit !== "1" ? spec.unit : "" }, label);
  const numeric = spec.type === "real" || spec.type === "integer";
  if (numeric) field.slider = makeSlider(field, row);
  field.input = numeric || spec.type === "reals" ? makeText(field, id, row) : makeSelect(field, id, row);
  if (!numeric) box.classList.add("wide");
  if (!spec.fixed) {
    field.clear = element("button", { type: "button", textContent: "×", title: "Back to its default", hidden: true }, row);
    field.clear.setAttribute("aria-label", `${spec.name}: back to its default`);
    field.clear.addEventListener("click", () => { field.range = null; field.input.focus(); changed(field, null); });
  }
  if (spec.summary) {
    const help = element("p", { className: "help", id: `${id}-help`, textContent: spec.summary }, box);
    field.input.setAttribute("aria-describedby", help.id);
  }
  fields.set(spec.name, field);
}

function makeSlider(field, row) {
  const slider = element("input", { type: "range", min: 0, max: steps, step: "any" }, row);
  slider.step = 1;
  slider.setAttribute("aria-label", `${field.spec.title || field.name}, slider`);
  slider.addEventListener("input", () => {
    const value = valueAt(field.range, Number(slider.value));
    field.input.value = String(value);
    slider.setAttribute("aria-valuetext", String(value));
    changed(field, String(value));
  });
  return slider;
}

function makeText(field, id, row) {
  const input = element("input", { type: "text", id, spellcheck: false }, row), { spec } = field;
  if (spec.words) {
    const list = element("datalist", { id: `${id}-words` }, row);
    for (const word of spec.words) element("option", { value: word }, list);
    input.setAttribute("list", list.id);
  }
  input.addEventListener("change", () => { field.range = null; changed(field, input.value.trim() === "" && !spec.fixed ? null : input.value.trim()); });
  return input;
}

function makeSelect(field, id, row) {
  const select = element("select", { id }, row), { spec } = field, words = spec.type === "bool" ? ["true", "false"] : spec.words || [];
  if (!spec.fixed && spec.default === null) element("option", { value: "", textContent: "(the model's, or none)" }, select);
  for (const word of words) element("option", { value: word, textContent: spec.titles ? spec.titles[word] : word }, select);
  select.addEventListener("change", () => {
    if (field.chosen) { movedAt = performance.now(); field.chosen(select.value); ask(); }
    else changed(field, select.value === "" ? null : select.value);
  });
  return select;
}

const titles = { rope_theta: "base (rope_theta)", train_length: "trained length", rotary_dim: "rotary dims", head_dim: "head dims (head_dim)", beta_fast: "beta_fast", length: "length" };
const byPowers = (low, high) => ({ low, high, log: true });

/* Numbers that the method has a value for stand in front. */
const isMain = (spec) => (spec.type === "real" || spec.type === "integer") && (spec.default !== null || spec.name === "factor");

function buildFields() {
  const method = methodOf(state.get("method")), model = modelOf(state.get("model")), shared = sharedOf(method);
  const focus = document.activeElement && document.activeElement.id;
  const ahead = ["rope_theta", "train_length"].map((name) => shared.find((p) => p.name === name)).filter((p) => p);
  fields = new Map();
  for (const id of ["model-fields", "method-fields", "own-fields", "rest-fields", "more-fields"]) byId(id).replaceChildren();
  makeField({ name: "model", title: "model", type: "choice", fixed: true, words: choices.models.map((m) => m.name), titles: Object.fromEntries(choices.models.map((m) => [m.name, m.name === "file" ? `${m.title} (the file)` : m.name])) }, byId("model-fields"));
  fields.get("model").chosen = chooseModel;
  if (model && model.layers.length > 0) makeField({ name: "layers", title: "layers", type: "choice", default: null, words: model.layers, summary: "which layers of the model" }, byId("model-fields"));
  makeField({ name: "length", title: "length", type: "integer", unit: "tokens", fixed: true, min: 1, max: choices.longest, slider: byPowers(256, choices.longest), summary: "the context that is served: 128k, 1M or a number" }, byId("model-fields"));
  for (const spec of ahead) makeField({ ...spec, title: titles[spec.name] }, byId("model-fields"));
  makeField({ name: "head_dim", title: titles.head_dim, type: "integer", unit: "dims", default: null, min: 2, max: 1024, slider: { low: 16, high: 256, log: false, step: 16 }, summary: "dims of a head (default: the model's); rotary dims follow" }, byId("model-fields"));
  makeField({ name: "method", title: "method", type: "choice", fixed: true, words: choices.methods.map((m) => m.name) }, byId("method-fields"));
  fields.get("method").chosen = chooseMethod;
  byId("method-summary").textContent = `${method.summary} [${method.reference}]`;
  for (const spec of method.parameters) makeField(spec, byId(isMain(spec) ? "own-fields" : "rest-fields"));
  byId("rest").hidden = byId("rest-fields").childElementCount === 0;
  for (const spec of shared) if (!ahead.includes(spec)) makeField(spec, byId("more-fields"));
  if (focus && byId(focus)) byId(focus).focus();
}

/* What acts: what was chosen, else what the program has resolved. */
function effective(name) {
  const { spec } = fields.get(name);
  if (state.has(name)) return state.get(name);
  if (answer === null || answer.method !== state.get("method")) return spec.default ?? null;
  const known = { layers: answer.model.layers, head_dim: answer.model.head_dim,
    rope_theta: answer.model.rope_theta, train_length: answer.trained_tokens, rotary_dim: answer.rotary_dim };
  const set = answer.parameters.find((p) => p.name === name);
  return set ? set.value : name in known && known[name] !== null ? String(known[name]) : null;
}

function showFields() {
  for (const [name, field] of fields) {
    const { input, slider, spec } = field, value = effective(name), given = state.has(name) && !spec.fixed;
    field.box.dataset.given = String(given);
    if (field.clear) field.clear.hidden = !given;
    if (slider) {
      const scale = answer !== null && answer.method === state.get("method") ? answer.scale : null;
      const number = name === "length" && answer !== null ? answer.length_tokens : value !== null && isFinite(Number(value)) ? Number(value) : name === "factor" && scale > 0 ? scale : null;
      if (field.range === null || (document.activeElement !== slider && number !== null && (number < field.range.low || number > field.range.high))) field.range = rangeOf(spec, number);
      if (document.activeElement !== slider) slider.value = String(positionOf(field.range, number === null ? 1 : number));
      slider.setAttribute("aria-valuetext", number === null ? value || "not set" : `${shown(number)} ${spec.unit && spec.unit !== "1" ? spec.unit : ""}`.trim());
      slider.classList.toggle("unset", number === null);
      input.placeholder = name === "factor" && scale !== null ? `s = ${shown(scale)}` : "not set";
    }
    if (document.activeElement !== input || input.tagName === "SELECT") input.value = value === null ? "" : value;
  }
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

function addNumber(name, value, summary) {
  const box = element("div", { title: summary || "" }, byId("numbers"));
  element("dt", { textContent: name }, box);
  element("dd", { textContent: value }, box);
}

function showWords() {
  const f = answer.frequencies.scalars, a = answer.ood_angles.scalars, pairs = answer.rotary_dim / 2, layers = answer.model.layers;
  byId("recipe").textContent = `${answer.recipe} on ${answer.model.name}${layers ? `, ${layers}` : ""} at ${tokensShown(answer.length_tokens)} tokens`;
  byId("warning").hidden = answer.warning === null;
  byId("warning").textContent = answer.warning || "";
  byId("command").textContent = answer.command;
  byId("config").textContent = answer.config;
  byId("fragment").textContent = answer.fragment || "(no keys say this)";
  byId("copy-fragment").hidden = answer.fragment === null;
  byId("keys-title").textContent = `As keys of a config.json (transformers 5)${layers ? `, for ${layers}` : ""}:`;
  byId("numbers").replaceChildren();
  addNumber("length, in trained lengths", `${shown(answer.length_tokens / answer.trained_tokens)} × ${tokensShown(answer.trained_tokens)}`, "length / trained length");
  if (answer.scale !== null) addNumber("s", shown(answer.scale), "what the method divides by");
  if (f.amplitude !== null) addNumber("attention factor", shown(f.amplitude), "what multiplies cos and sin; its square multiplies the logits");
  if (pairs > 0) addNumber("last query's logits", f.logit_gain === null ? "no one factor" : `× ${shown(f.logit_gain)}`, "attention factor squared times the logit scale");
  if (pairs > 0 && f.kept_pairs !== null) addNumber("pairs kept, blended, divided", `${f.kept_pairs}, ${f.blended_pairs}, ${f.divided_pairs} of ${pairs}`, "against plain RoPE of the model");
  if (pairs > 0 && a.ood_pairs !== null) addNumber("pairs past their trained angles", `${a.ood_pairs} of ${pairs}`, "pairs that did not go full circle in training and turn further here");
  if (f.ladder_base !== null) addNumber("base of the ladder", shown(f.ladder_base), "read off the frequencies");
  addNumber("layers see", answer.model.sees, "which keys");
}

/* ---- charts ------------------------------------------------------------------------------------------------------ */

const here = "#0b5fae", plainLook = { colour: "#7b8494", dash: [5, 4] };

function makeCard(id, title) {
  const card = element("section", { className: "card", id, hidden: true }, byId("charts"));
  card.setAttribute("aria-labelledby", `${id}-title`);
  element("h2", { id: `${id}-title`, textContent: title }, card);
  return { card, title, caption: element("p", { className: "soft" }, card), body: element("div", {}, card), chart: null };
}

/* Draws what `make` gives, a spec with a caption, where there is something. */
function draw(card, there, make) {
  card.card.hidden = !there;
  if (!there) return;
  const spec = { ...make(), title: card.title };
  card.caption.textContent = spec.caption;
  if (card.chart) card.chart.update(spec);
  else card.chart = ropescope.chart(card.body, spec);
}

/* What is said of the i-th of xs, by x. */
const sayOf = (xs, say) => (x) => (xs.includes(x) ? say(xs.indexOf(x)) : null);

const tableOf = (metric, curve) => ({ columns: choices.metrics[metric].curve, values: curve });

function drawFrequencies() {
  const c = answer.frequencies.curve;
  draw(charts.frequencies, c.pair.length > 0, () => {
    const trained = plain.answer ? plain.answer.frequencies.curve.wavelength_tokens : [], known = trained.length === c.pair.length && c.trained_rad_per_token[0] !== null;
    return {
      caption: "How many tokens each pair takes for a turn, fastest pair first. A pair whose wave is longer than the trained length has not gone full circle in training.",
      x: { name: "pair", log: false }, y: { name: "wavelength", unit: "tokens", log: true },
      lines: [...(known ? [{ name: "plain RoPE of the model", ...plainLook, x: c.pair, y: trained }] : []), { name: answer.method, colour: here, x: c.pair, y: c.wavelength_tokens }],
      rules: [{ axis: "y", value: answer.trained_tokens, name: "trained length" }, { axis: "y", value: answer.length_tokens, name: "length" }],
      table: tableOf("frequencies", c),
      say: sayOf(c.pair, (i) => `Pair ${c.pair[i]}: ${c.wavelength_tokens[i] === null ? "does not turn" : `a turn in ${shown(c.wavelength_tokens[i])} tokens`}` +
        (known ? `, plain RoPE ${shown(trained[i])}; ${c.divisor[i] === null ? "" : `${shown(c.divisor[i])} times slower; `}${shown(c.turns_in_training[i])} turns in training.` : ".")),
    };
  });
}

function drawAngles() {
  const c = answer.ood_angles.curve, past = c.pair.filter((_, i) => c.overshoot_rad[i] > 0);
  draw(charts.angles, c.pair.length > 0, () => ({
    caption: "How far each pair turns: by plain RoPE within the trained length, and here to the farthest key. Past what was trained are pairs that had not gone full circle (2π).",
    x: { name: "pair", log: false }, y: { name: "largest angle", unit: "rad", log: true },
    lines: [{ name: "in training", ...plainLook, x: c.pair, y: c.trained_rad }, { name: "here", colour: here, x: c.pair, y: c.reached_rad },
      ...(past.length > 0 ? [{ name: "past what was trained", colour: "#b3410e", dots: true, x: past, y: past.map((pair) => c.reached_rad[c.pair.indexOf(pair)]) }] : [])],
    rules: [{ axis: "y", value: 2 * Math.PI, name: "full circle" }],
    table: tableOf("ood_angles", c),
    say: sayOf(c.pair, (i) => `Pair ${c.pair[i]}: ${shown(c.trained_rad[i])} rad in training, ${shown(c.reached_rad[i])} rad here` + (c.overshoot_rad[i] > 0 ? `, ${shown(c.overshoot_rad[i])} rad past what was trained.` : ", nothing new.")),
  }));
}

function drawDecay() {
  const all = answer.decay.curve, from = all.distance_tokens.findIndex((d) => d > 0), there = from >= 0;
  const c = Object.fromEntries(Object.entries(all).map(([name, list]) => [name, there ? list.slice(from) : []])), xs = c.distance_tokens;
  const shared = { x: { name: "distance", unit: "tokens", log: true }, table: tableOf("decay", c), rules: [{ axis: "x", value: answer.trained_tokens, name: "trained length" }] };
  draw(charts.bias, there && all.bias_nats.some((v) => v !== null), () => ({ ...shared,
    caption: "What is added to the logit of a key by its distance, the mean over all heads.", y: { name: "bias", unit: "nats", log: false },
    lines: [{ name: answer.method, colour: here, x: xs, y: c.bias_nats }], say: sayOf(xs, (i) => `${shown(xs[i])} tokens back: ${shown(c.bias_nats[i])} nats.`) }));
  draw(charts.decay, there && answer.rotary_dim > 0, () => {
    const means = c.mean_cosine, low = c.mean_cosine_low, high = c.mean_cosine_high, spread = low.some((v) => v !== null);
    const p = plain.answer ? plain.answer.decay.curve : null, compared = p !== null && answer.method !== "rope";
    const until = compared ? p.distance_tokens.filter((d) => d < answer.length_tokens).length : 0, pick = (list) => list.slice(1, until);
    return { ...shared,
      caption: `The mean cosine over pairs by the distance of the key: what positions make of the score of equal contents.${spread ? " The band holds all distances up to the next." : " Single distances: what lies between them is not shown."}`,
      y: { name: "mean cosine", log: false },
      lines: [...(compared ? [{ name: "plain RoPE of the model", ...plainLook, x: pick(p.distance_tokens), y: pick(p.mean_cosine) }] : []), { name: answer.method, colour: here, x: xs, y: means, ...(spread ? { low, high } : {}) }],
      say: sayOf(xs, (i) => `${shown(xs[i])} tokens back: ${shown(means[i])}${spread ? `, from ${shown(low[i])} to ${shown(high[i])} up to the next` : ""}${compared && pick(p.distance_tokens)[i] === xs[i] ? `; plain RoPE ${shown(pick(p.mean_cosine)[i])}` : ""}.`),
    };
  });
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

const beginning = () => queryOf(Object.entries(choices.query));

function begin(query) {
  state = readState(query);
  const start = new Map(Object.entries(choices.query));
  if (!methodOf(state.get("method"))) state.set("method", start.get("method"));
  if (!modelOf(state.get("model"))) state.set("model", start.get("model"));
  if (!state.has("length")) state.set("length", String(modelOf(state.get("model")).length));
  buildFields();
  ask();
}

async function copy(event) {
  const button = event.currentTarget;
  try {
    await navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(byId(button.dataset.copy));
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

async function start() {
  choices = await (await fetch("choices")).json();
  charts = { frequencies: makeCard("frequencies", "Wavelength of each pair"), angles: makeCard("angles", "Range of angles"),
    decay: makeCard("decay", "Decay with distance"), bias: makeCard("bias", "Bias by distance") };
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", copy);
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => begin(beginning()));
  addEventListener("hashchange", () => { if (location.hash.slice(1) !== queryOf(state)) begin(location.hash.slice(1)); });
  begin(location.hash.length > 1 ? location.hash.slice(1) : beginning());
}

void start();
