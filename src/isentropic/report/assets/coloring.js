/* How the maps are coloured: by levels (classes, columns of text) or along a ramp (numbers, damage); and the legends. */

const MOST_LEVELS = 8; // of a column of text that have colours of their own; of more, the most frequent

const UNUSED = "Not used for the map"; // columns that are no features

/* Four digits, or as many as tell numbers of the column apart. */
const legendNumber = (value, digits) => (digits > 4 ? String(value) : numberText(value));

class Coloring {
  constructor(data) {
    const { rows } = data;
    Object.assign(this, { data, ways: new Map(), colorings: new Map() });
    this.color = this.firstColor = rows.asked !== null ? `column:${rows.asked}` : rows.classes ? "class" : rows.columns.length ? "column:0" : "false";
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  css(name) { return this.styles.getPropertyValue(name).trim(); }
  rgb(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }
  get way() { return this.ways.get(this.color); }
  get selects() { return document.querySelectorAll("select.color"); }

  setTheme(theme) {
    this.theme = document.documentElement.dataset.theme = theme;
    this.styles = getComputedStyle(document.documentElement);
    this.paper = this.rgb(this.css("--sheet"));
    this.colorings.clear();
  }

  setColor(color) {
    this.color = color;
    for (const select of this.selects) select.value = color;
    this.redraw();
    this.drawLegends();
    this.tell("color", color);
  }

  // ---- ways to colour ----

  /* One more way to colour. `value` names it, `title` and `group` are what the list says; tip(row, map) is a line for
     the row under the pointer, or "". The same value again replaces it.

     By numbers: codes(map) gives a byte for each row, 0 to 254, 255 where it is not known; legend() the title, the low
     and the high end. `own`: it differs from map to map. `worst`: the high end is damage, in its colours and drawn last.
     order(), if given: the rows as they are drawn.

     others(), if given: codes of the rows that only the map of all rows has.

     By levels: levels() are { name, count, hue }, codes() gives the place of each row among them. A hue is a place in
     the palette, or the name of a colour of the style sheet; legend() gives the title alone. */
  addColoring(way) {
    this.dropColoring(way.value);
    this.ways.set(way.value, way);
    for (const select of this.selects) {
      let group = way.group ? [...select.children].find((one) => one.label === way.group && one.tagName === "OPTGROUP") : select;
      if (!group) select.append((group = element("optgroup", { label: way.group })));
      group.append(element("option", { value: way.value }, way.title));
    }
  }

  dropColoring(value) {
    for (const key of [...this.colorings.keys()]) if (key === value || key.startsWith(`${value}:`)) this.colorings.delete(key);
    for (const view of this.views ?? []) view.kept = {};
    this.ways.delete(value);
    for (const select of this.selects) select.querySelector(`option[value="${CSS.escape(value)}"]`)?.remove();
  }

  offerColors() {
    if (this.classes) this.offerClasses();
    this.data.rows.columns.forEach((column, i) => {
      const given = this.given[column.given];
      if (!given) this.offerShades(`column:${i}`, column);
      else if (given.levels) this.offerLevels(`column:${i}`, column, given);
      else this.offerNumbers(`column:${i}`, column, given);
    });
    const { k } = this.data;
    for (const [value, name, title] of [["false", "false neighbours", `Share of false ones among the ${k} nearest in the map:`], ["tears", "tears", `Tears, by how far the ${k} nearest in the data were moved:`]])
      this.addColoring({
        value, title: `${name} (k = ${k})`, group: "Damage", own: true, worst: true, codes: (map) => bytes(map[value].values),
        legend: () => { const { high } = this.data.maps[0][value]; return [title, "0", `${high}${high < 1 ? " and more" : ""}`]; },
      });
    for (const select of this.selects) {
      select.value = this.color;
      select.addEventListener("change", () => this.setColor(select.value));
    }
  }

  offerClasses() {
    const { names, counts, grouped } = this.classes, last = names.length - 1;
    const levels = names.map((name, code) => ({ name, count: counts[code], hue: grouped && code === last ? "--grey" : code }));
    this.addColoring({ value: "class", title: "class", group: "", levels: () => levels, codes: () => this.codes, others: () => this.otherClasses, legend: () => [] });
  }

  /* Of the rows that only the map of all rows has. */
  get otherClasses() { const { full } = this.data; return full?.others ? this.once("others", () => bytes(full.others)) : null; }
  otherCodes(place, column) {
    const codes = this.data.full?.columns[place];
    return codes ? this.once(`others${place}`, () => (column.missing === 255 ? bytes : words)(codes)) : null;
  }

  /* A column that the page knows by its colours only. */
  offerShades(value, { name, values, low, high, digits }) {
    const codes = () => this.once(value, () => bytes(values)), number = (code) => Number((low + (code / 254) * (high - low)).toPrecision(digits));
    const tip = (row) => `${name}: ${codes()[row] === 255 ? "missing" : number(codes()[row])}`;
    this.addColoring({ value, title: name, group: "Columns", codes, tip, legend: () => [`${name}:`, legendNumber(low, digits), legendNumber(high, digits)] });
  }

  offerNumbers(value, { name, given, other, low, high, digits }, column) {
    const codes = () => this.once(value, () => column.shaded(column.codes)), text = (code) => column.text(code, digits);
    const others = () => { const found = this.otherCodes(given, column); return found && this.once(`other${value}`, () => column.shaded(found)); };
    const ends = () => (column.dates ? [dayText(column.value(0)), dayText(column.value(column.n - 1))] : [low, high].map((end) => legendNumber(end, digits)));
    const legend = () => (column.skewed ? [`${name} (colour by rank):`, ...ends(), column.dates ? text(column.codeAt(0.5)) : legendNumber(column.value(column.codeAt(0.5)), digits)] : [`${name}:`, ...ends()]);
    this.addColoring({ value, title: name, group: other ? UNUSED : "Columns", codes, others, tip: (row) => `${name}: ${text(column.codes[row])}`, legend, column });
  }

  /* Of many levels the most frequent have colours; the others share a grey one, and rows without a value a pale one. */
  offerLevels(value, { name, given, other }, column) {
    const { missing } = column, listed = () => this.once(`levels${value}`, () => this.frequentLevels(column));
    const placed = (list) => { const { levels, places } = listed(); return Uint8Array.from(list, (code) => (code === missing ? levels.length - 1 : places[code])); };
    const codes = () => this.once(value, () => placed(column.codes));
    const others = () => { const found = this.otherCodes(given, column); return found && this.once(`other${value}`, () => placed(found)); };
    this.addColoring({ value, title: name, group: other ? UNUSED : "Columns", levels: () => listed().levels, codes, others, tip: (row) => `${name}: ${column.text(column.codes[row])}`, legend: () => [`${name}:`], column });
  }

  /* The levels of the legend, the most frequent first, and for each code its place among them. */
  frequentLevels({ levels, n, counts }) {
    const order = [...levels.keys()].filter((code) => counts[code]).sort((a, b) => counts[b] - counts[a]), others = order.length - MOST_LEVELS + 1;
    const own = others > 1 ? order.splice(0, MOST_LEVELS - 1) : order.splice(0), places = new Uint8Array(n).fill(own.length);
    own.forEach((code, place) => { places[code] = place; });
    const neutral = this.data.palette.classes.light.length - 2; // would be taken for the grey of the others
    const found = own.map((code, place) => ({ name: levels[code], count: counts[code], hue: others > 1 && place >= neutral ? place + 1 : place }));
    if (others > 1) found.push({ name: `${others} other levels`, count: total(order.map((code) => counts[code])), hue: "--grey" });
    if (counts[n] || this.data.full) found.push({ name: "missing", count: counts[n], hue: "--line" });
    return { levels: found, places };
  }

  // ---- colours ----

  /* Codes of the rows of a map, and for each code a colour, a faded colour and a shape. */
  coloring(map) {
    const { way } = this, key = way.own ? `${this.color}:${map.run}` : this.color;
    if (!this.colorings.has(key)) this.colorings.set(key, way.levels ? this.byLevels(key, way) : this.byRamp(key, map, way));
    return this.colorings.get(key);
  }

  byLevels(key, way) {
    const hues = way.levels().map(({ hue }) => hue), list = hues.map((hue) => this.hueColor(hue)), shapes = hues.map((hue) => this.shape(hue));
    return { key, codes: way.codes(), order: this.order, shapes, ...this.tables(list) };
  }

  byRamp(key, map, way) {
    const stops = this.stops(way).map((hex) => this.rgb(hex));
    const list = Array.from({ length: 255 }, (_, i) => this.between(stops, i / 254));
    list.push(this.rgb(this.css("--line"))); // not known
    const codes = way.codes(map), order = way.order?.() ?? (way.worst ? byCode(this.order, codes, (code) => (code + 1) % 256) : this.order);
    return { key, codes, order, shapes: ["disc"], ...this.tables(list) };
  }

  hueColor(hue) {
    const hues = this.data.palette.classes[this.theme];
    return this.rgb(typeof hue === "string" ? this.css(hue) : hues[hue % hues.length]);
  }

  shape(hue) {
    const { shapes, classes } = this.data.palette;
    return typeof hue === "string" ? shapes[0] : shapes[Math.floor(hue / classes.light.length) % shapes.length];
  }

  stops(way) { return this.data.palette[way.worst ? "damage" : "numbers"][this.theme]; }

  between(stops, t) {
    const at = Math.min(stops.length - 2, Math.floor(t * (stops.length - 1))), rest = t * (stops.length - 1) - at;
    return stops[at].map((value, c) => Math.round(value + rest * (stops[at + 1][c] - value)));
  }

  tables(list) {
    const mute = this.rgb(this.css("--grey"));
    const fade = (rgb) => rgb.map((v, c) => Math.round(0.84 * this.paper[c] + 0.1 * mute[c] + 0.06 * v));
    return { colors: Uint8Array.from(list.flat()), faded: Uint8Array.from(list.map(fade).flat()) };
  }

  // ---- legends ----

  drawLegends() {
    for (const legend of document.querySelectorAll(".legend")) legend.replaceChildren(...(this.way.levels ? this.levelsLegend() : this.rampLegend()));
    this.pressLegends();
  }

  /* A button for each level: it selects its rows, and lets them go again. */
  levelsLegend() {
    const buttons = this.way.levels().map(({ name, count, hue }, place) => {
      const button = element("button", { type: "button", "data-level": place, title: `${name}: ${counted(count, "row")}. Click to select them.` });
      button.append(this.symbol(hue), element("span", {}, name));
      button.addEventListener("click", () => this.isolate(place));
      return button;
    });
    return [...this.way.legend().map((title) => element("span", {}, title)), ...buttons];
  }

  symbol(hue) {
    const fill = `rgb(${this.hueColor(hue).join(" ")})`, svg = element("svg", { width: 12, height: 12, viewBox: "-6 -6 12 12", "aria-hidden": "true" });
    svg.append({
      disc: () => element("circle", { r: 5, fill }), ring: () => element("circle", { r: 4, fill: "none", stroke: fill, "stroke-width": 2.4 }),
      cross: () => element("path", { d: "M-5 0H5M0-5V5", stroke: fill, "stroke-width": 3 }),
      square: () => element("rect", { x: -4, y: -4, width: 8, height: 8, fill: "none", stroke: fill, "stroke-width": 2.4 }),
    }[this.shape(hue)]());
    return svg;
  }

  isolate(place) {
    const chosen = this.isolated === place;
    this.choose(this.way.codes().map((code) => Number(!chosen && code === place)));
  }

  /* The level whose rows are selected, all of them and no others, or -1. */
  get isolated() {
    const { levels, codes } = this.way, first = this.selected.indexOf(1);
    if (!levels || first < 0) return -1;
    const of = codes(), place = of[first];
    return levels()[place].count === this.nSelected && this.selected.every((flag, i) => !flag || of[i] === place) ? place : -1;
  }

  pressLegends() {
    const { isolated } = this;
    for (const button of document.querySelectorAll(".legend button")) button.setAttribute("aria-pressed", String(Number(button.dataset.level) === isolated));
  }

  rampLegend() {
    const { way } = this, ramp = element("i", { class: "ramp", "aria-hidden": "true" });
    ramp.style.background = `linear-gradient(90deg, ${this.stops(way).join(", ")})`;
    const [title, low, high, middle] = way.legend(), scale = element("span", { class: "scaled" });
    scale.append(ramp, ...(middle === undefined ? [] : [element("span", { class: "middle" }, middle)]));
    return [element("span", {}, title), element("span", {}, `\u00a0${low}`), scale, element("span", {}, high)];
  }
}
