/* What the maps share: the rows, the colours, the selection, the row under the pointer.

   Further panels are further scripts (`_SCRIPTS` in rendering.py, between page.js and start.js). Each says

     panels.push((app) => { ... });

   and is called once, when the maps are there and before anything is drawn. What it may use:

     app.data                     what rendering.py wrote, and so what your Python adds to the payload
     app.views, view.px, view.py  the maps on the page, and where their rows are in canvas pixels
     app.selected, app.pinned     flags of the selected rows; the row that is held, or -1
     app.selectRows(rows), app.select(flags), app.pin(row), app.setColor(value)
     app.section(id, title)       a new part of the column beside the maps, to fill
     app.addColoring({...})       one more way to colour (see there); app.dropColoring(value)
     app.on(kind, listener)       "select"  the selection changed; cheap work only: a brush may be moving
                                  "settle"  and stays as it is: time for long work
                                  "pin"     (row) is held, or -1
                                  "hover"   (row) is under the pointer, or -1
                                  "color"   (value) was chosen
                                  "points"  (view, context) the points of a map were drawn: marks that stay
                                  "over"    (view, context) the upper layer of a map is being drawn
                                  "draw"    everything is drawn anew: another theme or width */

const panels = [];

class App {
  constructor(data) {
    const { rows } = data;
    Object.assign(this, { data, n: rows.n, names: rows.names, classes: rows.classes, k: rows.neighbors.k });
    this.neighbors = (rows.neighbors.kind === "u2" ? words : longs)(rows.neighbors.indices);
    this.codes = rows.classes ? bytes(rows.classes.codes) : null;
    this.given = data.given.columns.map((column) => new GivenColumn(column));
    this.order = shuffled(this.n);
    this.selected = new Uint8Array(this.n);
    this.nSelected = 0;
    this.hovered = this.pinned = -1;
    this.color = rows.classes ? "class" : rows.columns.length ? "column:0" : "false";
    if (rows.asked !== null) this.color = `column:${rows.asked}`;
    this.runOrder = data.maps.map((_, i) => i).sort((a, b) => (data.maps[a].run === data.shown) - (data.maps[b].run === data.shown));
    this.colorings = new Map();
    this.ways = new Map();
    this.listeners = new Map();
    this.decoded = new Map();
    this.font = getComputedStyle(document.body).fontFamily;
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  /* The run at the top of the page: its regions are drawn. */
  get top() { return this.data.whole ? this.data.whole.run : this.data.shown; }
  get active() { return this.hovered >= 0 ? this.hovered : this.pinned; }
  on(kind, listener) { this.listeners.set(kind, [...(this.listeners.get(kind) ?? []), listener]); }
  tell(kind, ...what) { for (const listener of this.listeners.get(kind) ?? []) listener(...what); }
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
      const places = this.classes.counts.map((count) => [new Uint16Array(count), new Uint16Array(count)]), points = this.points(map);
      const filled = new Uint32Array(places.length); // typed arrays sort tenfold faster
      for (let i = 0; i < this.n; i++) {
        const at = filled[this.codes[i]]++;
        for (const c of [0, 1]) places[this.codes[i]][c][at] = points[2 * i + c];
      }
      const at = (list, share) => list[Math.floor(share * (list.length - 1))] / 65535;
      return places.map((sides) => {
        if (!sides[0].length) return null;
        for (const list of sides) list.sort();
        return [...sides.map((list) => list[list.length >> 1] / 65535), Math.max(...sides.map((list) => at(list, 0.95) - at(list, 0.05)))];
      });
    });
  }

  // ---- colours ----

  /* Codes of the rows of a map, and for each code a colour, a faded colour and a shape. */
  coloring(map) {
    const way = this.ways.get(this.color), key = way?.own ? `${this.color}:${map.run}` : this.color;
    if (!this.colorings.has(key)) this.colorings.set(key, way ? this.ramp(key, map, way) : this.byClass(key));
    return this.colorings.get(key);
  }

  byClass(key) {
    const hues = this.data.palette.classes[this.theme].map((hex) => this.rgb(hex));
    const list = this.classes.names.map((_, code) => (this.isRest(code) ? this.rgb(this.css("--grey")) : hues[code % hues.length]));
    const shapes = this.classes.names.map((_, code) => this.shape(code));
    return { key, codes: this.codes, order: this.order, shapes, ...this.tables(list) };
  }

  ramp(key, map, way) {
    const stops = this.stops(way).map((hex) => this.rgb(hex));
    const list = Array.from({ length: 255 }, (_, i) => this.between(stops, i / 254));
    list.push(this.rgb(this.css("--line"))); // not known
    const codes = way.codes(map);
    return { key, codes, order: way.order?.() ?? (way.worst ? this.worstLast(codes) : this.order), shapes: ["disc"], ...this.tables(list) };
  }

  /* One more way to colour, by numbers. `value` names it, `title` and `group` are what the list says. codes(map)
     gives a byte for each row: 0 to 254, 255 where it is not known. legend() gives the title, the low and the high
     end; tip(row, map) a line for the row under the pointer, or "". `own`: it differs from map to map. `worst`: the
     high end is damage, in its colours and drawn last. order(), if given: the rows as they are drawn. The same value again replaces it. */
  addColoring(way) {
    this.dropColoring(way.value);
    this.ways.set(way.value, way);
    const select = document.getElementById("color");
    let group = [...select.children].find((one) => one.label === way.group && one.tagName === "OPTGROUP");
    if (!group) select.append((group = element("optgroup", { label: way.group })));
    group.append(element("option", { value: way.value }, way.title));
  }

  dropColoring(value) {
    for (const key of [...this.colorings.keys()]) if (key === value || key.startsWith(`${value}:`)) this.colorings.delete(key);
    for (const view of this.views ?? []) view.kept = {};
    this.ways.delete(value);
    document.querySelector(`#color option[value="${CSS.escape(value)}"]`)?.remove();
  }

  stops(way) { return way.worst ? this.data.palette.damage[this.theme] : this.data.palette.numbers; }
  isRest(code) { return this.classes.grouped > 0 && code === this.classes.names.length - 1; }
  shape(code) { const { shapes, classes } = this.data.palette; return shapes[Math.floor(code / classes.light.length) % shapes.length]; }

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
    this.tell("select");
  }

  selectRows(rows) {
    const flags = new Uint8Array(this.n);
    for (const row of rows) flags[row] = 1;
    this.choose(flags);
  }

  /* A selection that no brush will change in the next frame. */
  choose(flags) {
    this.select(flags);
    this.tell("settle");
  }

  clear() {
    this.hover(-1);
    if (this.pinned >= 0) this.pin(this.pinned);
    this.choose(new Uint8Array(this.n));
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
    this.drawOver();
    this.tell("hover", row);
  }

  pin(row) {
    this.pinned = this.pinned === row ? -1 : row;
    this.drawOver();
    this.tell("pin", this.pinned);
  }

  showTip(row, view, x, y) {
    const tip = document.getElementById("tip"), name = (i) => (/^\d+$/.test(this.names[i]) ? `row ${this.names[i]}` : this.names[i]), lines = [element("strong", {}, name(row))];
    const line = (text) => lines.push(element("span", { class: "quiet" }, text));
    if (this.classes) lines.push(element("span", {}, `class ${this.classes.names[this.codes[row]]}`));
    const said = this.ways.get(this.color)?.tip?.(row, view.map);
    if (said) line(said);
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

  /* Maps that are seen now; the others a little later, one after the other, and not in every frame of a brush. */
  redraw(all = false) {
    clearTimeout(this.later);
    for (const view of this.views) if (all || view.isSeen()) view.draw(); else view.stale = true;
    const next = () => {
      const view = this.views.find((one) => one.stale);
      if (!view) return;
      view.draw();
      this.later = setTimeout(next);
    };
    this.later = setTimeout(next, 60);
  }

  drawOver() { for (const view of this.views) view.drawOver(); }

  /* A part of the column beside the maps, with a heading; hidden while it is `hidden`. */
  section(id, title) {
    const made = element("section", { id, class: "panel" });
    made.append(element("h3", {}, title));
    document.getElementById("panels").append(made);
    return made;
  }

  start() {
    const byRun = new Map(this.data.maps.map((map) => [map.run, map]));
    if (this.data.whole) byRun.set(this.data.whole.run, this.data.whole);
    this.views = [...document.querySelectorAll("figure.map")].map((figure) => new MapView(figure, byRun.get(Number(figure.dataset.run)), this));
    this.curves = new Curves(document.getElementById("curves"), this);
    this.offerColors();
    this.listen();
    for (const panel of panels) panel(this);
    this.drawAll();
  }

  drawAll(all = false) {
    this.redraw(all);
    this.drawLegends();
    this.curves.draw();
    drawPictures(document.getElementById("pictures"), this);
    drawTrials(document.getElementById("trials"), this);
    this.tell("draw");
  }

  listen() {
    const repaint = (theme, all) => { this.setTheme(theme); this.drawAll(all); };
    document.getElementById("theme").addEventListener("click", () => repaint(this.theme === "dark" ? "light" : "dark"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => repaint(event.matches ? "dark" : "light"));
    document.getElementById("clear").addEventListener("click", () => this.clear());
    addEventListener("keydown", (event) => { if (event.key === "Escape") this.clear(); });
    for (const button of document.querySelectorAll("[data-fact]"))
      button.addEventListener("click", () => this.selectRows(longs(this.data.regions[Number(button.dataset.fact)].rows)));
    const all = document.getElementById("all");
    all?.addEventListener("click", () => this.showAll(all));
    let width = innerWidth, screen = "";
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; this.drawAll(); } });
    addEventListener("beforeprint", () => { screen = this.theme; repaint("light", true); }); // paper is light
    addEventListener("afterprint", () => { if (screen === "dark") repaint("dark"); });
    for (const head of document.querySelectorAll("#scores thead th")) head.firstElementChild.addEventListener("click", () => this.sort(head));
  }

  /* The other maps too, or the best alone again. */
  showAll(button) {
    const open = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(open));
    this.allMaps ??= button.textContent;
    button.textContent = open ? "Show the best only" : this.allMaps;
    for (const rest of document.querySelectorAll(".rest")) rest.hidden = !open;
    this.redraw();
  }

  offerColors() {
    const select = document.getElementById("color"), { k } = this.data;
    if (this.classes) select.append(element("option", { value: "class" }, "class"));
    for (const [value, name, title] of [["false", "false neighbours", `Share of false ones among the ${k} nearest in the map:`], ["tears", "tears", `Tears, by how far the ${k} nearest in the data were moved:`]])
      this.addColoring({
        value, title: `${name} (k = ${k})`, group: "Damage", own: true, worst: true, codes: (map) => bytes(map[value].values),
        legend: () => { const { high } = this.data.maps[0][value]; return [title, "0", `${high}${high < 1 ? " and more" : ""}`]; },
      });
    this.data.rows.columns.forEach(({ name, values, given, low, high, digits }, i) => {
      const value = `column:${i}`, codes = () => this.once(value, () => (values === undefined ? this.given[given].shades : bytes(values)));
      const tip = (row) => codes()[row] === 255 ? `${name}: missing` : `${name}: ${Number((low + (codes()[row] / 254) * (high - low)).toPrecision(digits))}`;
      this.addColoring({ value, title: name, group: "Columns", codes, tip, legend: () => [`${name}:`, String(low), String(high)] });
    });
    select.value = this.color;
    select.addEventListener("change", () => this.setColor(select.value));
  }

  setColor(color) {
    this.color = color;
    document.getElementById("color").value = color;
    this.redraw();
    this.drawLegends();
    this.tell("color", color);
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
      button.addEventListener("click", () => this.choose(this.codes.map((c) => Number(c === code))));
      return button;
    });
  }

  rampLegend() {
    const way = this.ways.get(this.color), ramp = element("i", { class: "ramp", "aria-hidden": "true" });
    ramp.style.background = `linear-gradient(90deg, ${this.stops(way).join(", ")})`;
    const [title, low, high] = way.legend();
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
