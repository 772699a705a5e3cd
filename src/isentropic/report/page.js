/* What the maps share: the rows, the colours, the selection, the row under the pointer. */

class App {
  constructor(data) {
    const { rows } = data;
    Object.assign(this, { data, n: rows.n, names: rows.names, classes: rows.classes, k: rows.neighbors.k });
    this.neighbors = (rows.neighbors.kind === "u2" ? words : longs)(rows.neighbors.indices);
    this.codes = rows.classes ? bytes(rows.classes.codes) : null;
    this.order = shuffled(this.n);
    this.selected = new Uint8Array(this.n);
    this.nSelected = 0;
    this.hovered = this.pinned = -1;
    this.color = rows.classes ? "class" : rows.columns.length ? "column:0" : "false";
    if (rows.asked !== null) this.color = `column:${rows.asked}`;
    this.runOrder = data.maps.map((_, i) => i).sort((a, b) => (data.maps[a].run === data.shown) - (data.maps[b].run === data.shown));
    this.colorings = new Map();
    this.decoded = new Map();
    this.font = getComputedStyle(document.body).fontFamily;
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  get active() { return this.hovered >= 0 ? this.hovered : this.pinned; }
  css(name) { return this.styles.getPropertyValue(name).trim(); }
  rgb(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }

  setTheme(theme) {
    this.theme = document.documentElement.dataset.theme = theme;
    this.styles = getComputedStyle(document.documentElement);
    this.paper = this.rgb(this.css("--sheet"));
    this.colorings.clear();
  }

  once(key, make) {
    if (!this.decoded.has(key)) this.decoded.set(key, make());
    return this.decoded.get(key);
  }

  points(map) { return this.once(`points${map.run}`, () => words(map.points)); }

  /* Of each class the median of its rows, and how far most of them spread. */
  medians(map) {
    return this.once(`medians${map.run}`, () => {
      const places = this.classes.names.map(() => [[], []]), points = this.points(map);
      for (let i = 0; i < this.n; i++) for (const c of [0, 1]) places[this.codes[i]][c].push(points[2 * i + c] / 65535);
      const at = (list, share) => list[Math.floor(share * (list.length - 1))];
      return places.map((sides) => {
        if (!sides[0].length) return null;
        for (const list of sides) list.sort((a, b) => a - b);
        return [...sides.map((list) => list[list.length >> 1]), Math.max(...sides.map((list) => at(list, 0.95) - at(list, 0.05)))];
      });
    });
  }

  // ---- colours ----

  /* Codes of the rows of a map, and for each code a colour, a faded colour and a shape. */
  coloring(map) {
    const own = this.color === "false" || this.color === "tears"; // differs from map to map
    const key = own ? `${this.color}:${map.run}` : this.color;
    if (!this.colorings.has(key)) this.colorings.set(key, this.newColoring(key, map, own));
    return this.colorings.get(key);
  }

  newColoring(key, map, own) {
    const { palette } = this.data;
    if (this.color === "class") {
      const hues = palette.classes[this.theme].map((hex) => this.rgb(hex));
      const list = this.classes.names.map((_, code) => (this.isRest(code) ? this.rgb(this.css("--grey")) : hues[code % hues.length]));
      const shapes = this.classes.names.map((_, code) => this.shape(code));
      return { key, codes: this.codes, order: this.order, shapes, ...this.tables(list) };
    }
    const stops = (own ? palette.damage[this.theme] : palette.numbers).map((hex) => this.rgb(hex));
    const list = Array.from({ length: 255 }, (_, i) => this.between(stops, i / 254));
    list.push(this.rgb(this.css("--line"))); // not known
    const codes = own ? bytes(map[this.color].values) : this.once(key, () => bytes(this.column.values));
    return { key, codes, order: own ? this.worstLast(codes) : this.order, shapes: ["disc"], ...this.tables(list) };
  }

  isRest(code) { return this.classes.grouped > 0 && code === this.classes.names.length - 1; }
  shape(code) { const { shapes, classes } = this.data.palette; return shapes[Math.floor(code / classes.light.length) % shapes.length]; }
  get column() { return this.data.rows.columns[Number(this.color.split(":")[1])]; }

  between(stops, t) {
    const at = Math.min(stops.length - 2, Math.floor(t * (stops.length - 1))), rest = t * (stops.length - 1) - at;
    return stops[at].map((value, c) => Math.round(value + rest * (stops[at + 1][c] - value)));
  }

  tables(list) {
    const mute = this.rgb(this.css("--grey"));
    const fade = (rgb) => rgb.map((v, c) => Math.round(0.84 * this.paper[c] + 0.1 * mute[c] + 0.06 * v));
    return { colors: Uint8Array.from(list.flat()), faded: Uint8Array.from(list.map(fade).flat()) };
  }

  worstLast(codes) {
    const key = (i) => (codes[i] === 255 ? -1 : codes[i]);
    return Uint32Array.from(this.order).sort((a, b) => key(a) - key(b));
  }

  // ---- selection ----

  /* While a brush moves: at most once a frame. */
  brushed(view, before) {
    this.pending = { view, before };
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => this.settle());
  }

  /* The selection as the brush stands now; also when it ends before the next frame. */
  settle() {
    if (!this.frame) return;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { view, before } = this.pending;
    if (!view.brush) return;
    const found = view.within();
    if (before) for (let i = 0; i < found.length; i++) found[i] |= before[i];
    this.select(found);
  }

  select(flags) {
    this.selected = flags;
    this.nSelected = flags.reduce((sum, flag) => sum + flag, 0);
    this.redraw();
    this.say();
  }

  selectRows(rows) {
    const flags = new Uint8Array(this.n);
    for (const row of rows) flags[row] = 1;
    this.select(flags);
  }

  clear() {
    this.pinned = -1;
    this.hover(-1);
    this.select(new Uint8Array(this.n));
  }

  say() {
    let text = "";
    if (this.nSelected) {
      text = `${this.nSelected.toLocaleString("en")} of ${this.n.toLocaleString("en")} rows selected`;
      if (this.classes) {
        const counts = this.classes.names.map((name, code) => ({ name, code, count: 0 }));
        for (let i = 0; i < this.n; i++) if (this.selected[i]) counts[this.codes[i]].count++;
        const most = counts.filter((c) => c.count).sort((a, b) => b.count - a.count);
        text += `: ${most.slice(0, 3).map((c) => `${c.name} (${c.count.toLocaleString("en")})`).join(", ")}${most.length > 3 ? ", …" : ""}`;
      }
    }
    document.getElementById("status").textContent = text;
    document.getElementById("clear").hidden = !this.nSelected;
  }

  // ---- the row under the pointer ----

  hover(row, view, x, y) {
    if (row >= 0) this.showTip(row, view, x, y); else document.getElementById("tip").hidden = true;
    if (row === this.hovered) return;
    this.hovered = row;
    for (const one of this.views) one.drawOver();
  }

  pin(row) {
    this.pinned = this.pinned === row ? -1 : row;
    for (const one of this.views) one.drawOver();
  }

  showTip(row, view, x, y) {
    const tip = document.getElementById("tip"), name = (i) => (/^\d+$/.test(this.names[i]) ? `row ${this.names[i]}` : this.names[i]), lines = [element("strong", {}, name(row))];
    const line = (text) => lines.push(element("span", { class: "quiet" }, text));
    if (this.classes) lines.push(element("span", {}, `class ${this.classes.names[this.codes[row]]}`));
    if (this.color.startsWith("column")) {
      const { name, low, high, digits } = this.column, code = this.coloring(view.map).codes[row];
      line(`${name}: ${Number((low + (code / 254) * (high - low)).toPrecision(digits))}`);
    }
    for (const [kind, title] of [["false", "false neighbours"], ["tears", "tears"]]) {
      const { values, high } = view.map[kind], code = this.once(`${kind}${view.map.run}`, () => bytes(values))[row];
      if (code < 255) line(`${title} here: ${code === 254 ? "≥ " : ""}${((code / 254) * high).toFixed(2)}`);
    }
    const near = Array.from({ length: Math.min(5, this.k) }, (_, j) => this.names[this.neighbors[row * this.k + j]]);
    line(`nearest in the data: ${near.join(", ")}`);
    tip.replaceChildren(...lines);
    tip.hidden = false;
    this.placeTip(tip, view, x, y);
  }

  /* Where it hides no point that matters: beside a small map, in the far corner of a large one. */
  placeTip(tip, view, x, y) {
    const map = view.over.getBoundingClientRect(), box = tip.getBoundingClientRect();
    let left = x < map.left + map.width / 2 ? map.right - box.width - 8 : map.left + 8, top = map.top + 8;
    if (!view.hero) {
      left = Math.min(Math.max(map.left, x - box.width / 2), map.right - box.width);
      top = map.bottom + 6 + box.height < innerHeight ? map.bottom + 6 : map.top - box.height - 6;
    }
    tip.style.left = `${left}px`;
    tip.style.top = `${Math.max(4, Math.min(innerHeight - box.height - 4, top))}px`;
  }

  // ---- the page ----

  redraw() { for (const view of this.views) view.draw(); }

  start() {
    const byRun = new Map(this.data.maps.map((map) => [map.run, map]));
    this.views = [...document.querySelectorAll("figure.map")].map((figure) => new MapView(figure, byRun.get(Number(figure.dataset.run)), this));
    this.curves = new Curves(document.getElementById("curves"), this);
    this.offerColors();
    this.listen();
    this.drawAll();
  }

  drawAll() {
    this.redraw();
    this.drawLegends();
    this.curves.draw();
    drawPictures(document.getElementById("pictures"), this);
    drawTrials(document.getElementById("trials"), this);
  }

  listen() {
    const repaint = (theme) => { this.setTheme(theme); this.drawAll(); };
    document.getElementById("theme").addEventListener("click", () => repaint(this.theme === "dark" ? "light" : "dark"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => repaint(event.matches ? "dark" : "light"));
    document.getElementById("clear").addEventListener("click", () => this.clear());
    addEventListener("keydown", (event) => { if (event.key === "Escape") this.clear(); });
    for (const button of document.querySelectorAll("[data-fact]"))
      button.addEventListener("click", () => this.selectRows(longs(this.data.regions[Number(button.dataset.fact)].rows)));
    let width = innerWidth, screen = "";
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; this.drawAll(); } });
    addEventListener("beforeprint", () => { screen = this.theme; if (screen === "dark") repaint("light"); }); // paper is light
    addEventListener("afterprint", () => { if (screen === "dark") repaint("dark"); });
    for (const head of document.querySelectorAll("#scores thead th")) head.firstElementChild.addEventListener("click", () => this.sort(head));
  }

  offerColors() {
    const select = document.getElementById("color"), { k } = this.data;
    const option = (value, text) => element("option", { value }, text);
    if (this.classes) select.append(option("class", "class"));
    const damage = element("optgroup", { label: "Damage" });
    damage.append(option("false", `false neighbours (k = ${k})`), option("tears", `tears (k = ${k})`));
    const columns = element("optgroup", { label: "Columns" });
    this.data.rows.columns.forEach((column, i) => columns.append(option(`column:${i}`, column.name)));
    select.append(damage, columns);
    select.value = this.color;
    select.addEventListener("change", () => this.setColor(select.value));
  }

  setColor(color) {
    this.color = color;
    document.getElementById("color").value = color;
    this.redraw();
    this.drawLegends();
  }

  drawLegends() {
    for (const legend of document.querySelectorAll(".legend")) legend.replaceChildren(...(this.color === "class" ? this.classLegend() : this.rampLegend()));
  }

  classLegend() {
    const { colors } = this.coloring(this.data.maps[0]);
    return this.classes.names.map((name, code) => {
      const button = element("button", { type: "button", title: `${name}: ${this.classes.counts[code].toLocaleString("en")} rows. Click to select them.` });
      const fill = `rgb(${colors[3 * code]} ${colors[3 * code + 1]} ${colors[3 * code + 2]})`;
      const svg = element("svg", { width: 12, height: 12, viewBox: "-6 -6 12 12", "aria-hidden": "true" });
      svg.append({
        disc: () => element("circle", { r: 5, fill }), ring: () => element("circle", { r: 4, fill: "none", stroke: fill, "stroke-width": 2.4 }),
        cross: () => element("path", { d: "M-5 0H5M0-5V5", stroke: fill, "stroke-width": 3 }),
        square: () => element("rect", { x: -4, y: -4, width: 8, height: 8, fill: "none", stroke: fill, "stroke-width": 2.4 }),
      }[this.shape(code)]());
      button.append(svg, element("span", {}, name));
      button.addEventListener("click", () => this.select(this.codes.map((c) => Number(c === code))));
      return button;
    });
  }

  rampLegend() {
    const own = this.color === "false" || this.color === "tears";
    const stops = own ? this.data.palette.damage[this.theme] : this.data.palette.numbers;
    const ramp = element("i", { class: "ramp", "aria-hidden": "true" });
    ramp.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    const k = this.data.k;
    const [title, low, high] = own
      ? [this.color === "false" ? `Share of false ones among the ${k} nearest in the map:` : `Tears, by how far the ${k} nearest in the data were moved:`,
        "0", `${this.data.maps[0][this.color].high}${this.data.maps[0][this.color].high < 1 ? " and more" : ""}`]
      : [`${this.column.name}:`, String(this.column.low), String(this.column.high)];
    return [element("span", {}, title), element("span", {}, `\u00a0${low}`), ramp, element("span", {}, high)];
  }

  /* By the heading that was clicked, the best first; again, the other way. Failed runs stay at the end, and groups apart. */
  sort(head) {
    const column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = (row) => {
      const cell = row.cells[column];
      return row.classList.contains("failed") || !cell || cell.dataset.order === "" ? null : Number(cell.dataset.order);
    };
    for (const body of document.querySelectorAll("#scores tbody.sorted")) {
      const rows = [...body.querySelectorAll("tr[data-run]")].map((row) => ({ row, at: order(row) }));
      rows.sort((a, b) => (a.at === null) - (b.at === null) || (down ? b.at - a.at : a.at - b.at));
      body.append(...rows.map(({ row }) => row));
    }
  }
}

const isentropic = (window.isentropic = new App(JSON.parse(document.getElementById("data").textContent)));
isentropic.start();
isentropic.ready = true;
