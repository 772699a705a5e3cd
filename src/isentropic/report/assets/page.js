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
const MOST_VALUES = 6; // lines of a tooltip about values of a row
const DOUBTFUL = 0.6; // of the points beside a row close to it in the data: fewer are worth a warning
const MOST_COPIES = 16; // identical rows up to which a point grows
const FRAME = 12; // milliseconds of a frame in which maps are drawn at once

/* Maps that wait for their drawing, one after the other. */
function* drawnMaps(views) {
  for (const view of views) if (view.stale) { view.draw(); yield; }
}

class App extends Coloring {
  constructor(data) {
    super(data);
    const { rows } = data;
    Object.assign(this, { n: rows.n, names: rows.names, classes: rows.classes, k: rows.neighbors.k });
    this.neighbors = (rows.neighbors.kind === "u2" ? words : longs)(rows.neighbors.indices);
    this.codes = rows.classes ? bytes(rows.classes.codes) : null;
    this.given = data.given.columns.map((column) => new GivenColumn(column));
    this.copies = data.copies ? longs(data.copies) : null;
    this.order = shuffled(this.n);
    if (this.copies) this.order.sort((a, b) => this.copies[b] - this.copies[a]); // the small ones on top
    this.tipColumns = [...this.given].sort((a, b) => (data.shares[b.name] ?? -1) - (data.shares[a.name] ?? -1));
    this.selected = new Uint8Array(this.n);
    this.nSelected = 0;
    this.hovered = this.pinned = -1;
    this.stopMaps = this.stopCharts = () => {};
    this.runOrder = data.maps.map((_, i) => i).sort((a, b) => (data.maps[a].run === data.shown) - (data.maps[b].run === data.shown));
    this.listeners = new Map();
    this.decoded = new Map();
    this.font = getComputedStyle(document.body).fontFamily;
  }

  /* The run at the top of the page: its regions are drawn. */
  get top() { return this.data.full ? this.data.full.run : this.data.shown; }
  get active() { return this.hovered >= 0 ? this.hovered : this.pinned; }
  on(kind, listener) { this.listeners.set(kind, [...(this.listeners.get(kind) ?? []), listener]); }
  tell(kind, ...what) { for (const listener of this.listeners.get(kind) ?? []) listener(...what); }
  rowName(row) { return /^\d+$/.test(this.names[row]) ? `row ${this.names[row]}` : this.names[row]; }

  once(key, make) {
    if (!this.decoded.has(key)) this.decoded.set(key, make());
    return this.decoded.get(key);
  }

  points(map) { return this.once(`points${map.run}`, () => words(map.points)); }

  /* Whether every row has its name on the maps: few rows, with names that say more than their number. */
  get hasNamedRows() { return this.n <= MOST_NAMED_ROWS && this.names.some((name) => !/^(row )?\d+$/.test(name)); }

  /* What is named on a map: the levels that colour it and did not make it, or the groups that were found in it. */
  namedLevels(map) {
    const { way, color } = this;
    if (color === "class" || (way.levels && way.column?.other)) {
      const names = way.levels().map(({ name }) => name);
      return names.length > MOST_LABELS ? null : { key: `labels${color}`, names, codes: way.codes() };
    }
    if (map.run !== this.top || !this.data.named_groups || !this.data.groups.length) return null;
    return { key: "labelsgroups", groups: true, names: this.data.groups.map(({ name }) => name), codes: this.groupCodes };
  }

  /* Of each row its group; 255 for none. */
  get groupCodes() {
    return this.once("groups", () => {
      const codes = new Uint8Array(this.n).fill(255);
      this.data.groups.slice(0, 255).forEach((group, place) => { for (const row of longs(group.rows)) codes[row] = place; });
      return codes;
    });
  }

  /* How much larger the point of a row is that stands for several: its area is that of all of them, up to a limit. */
  growth(row) { return this.copies ? Math.sqrt(Math.min(MOST_COPIES, this.copies[row])) : 1; }

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
    this.nSelected = total(flags);
    this.redraw();
    this.say();
    this.pressLegends();
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
    const tip = document.getElementById("tip"), lines = [element("strong", {}, this.rowName(row))];
    const line = (text) => lines.push(element("span", { class: "quiet" }, text));
    if (this.copies?.[row] > 1) line(`${this.copies[row].toLocaleString("en")} identical rows`);
    lines.push(...this.valuesOf(row, view.map).map((text) => element("span", { class: "value" }, text)));
    const near = this.nearText(row, view.map);
    if (near) line(near);
    const others = Array.from({ length: Math.min(5, this.k) }, (_, j) => this.names[this.neighbors[row * this.k + j]]);
    if (others.length) line(`nearest in the data: ${others.join(", ")}`);
    tip.replaceChildren(...lines);
    tip.hidden = false;
    this.placeTip(tip, view, x, y);
  }

  /* What is said of a row: what it is coloured by, its class, and columns, those first that decide most. */
  valuesOf(row, map) {
    const { way } = this, colored = way?.tip?.(row, map), found = colored ? [colored] : [];
    if (this.classes) found.push(`class ${this.classes.names[this.codes[row]]}`);
    const others = this.tipColumns.filter((column) => column !== way?.column);
    found.push(...others.slice(0, Math.max(0, MOST_VALUES - found.length)).map((column) => `${column.name}: ${column.text(column.codes[row])}`));
    return found;
  }

  /* How many of the points beside it are close in the data, where that was measured. */
  nearText(row, map) {
    if (!map.near) return "";
    const { k } = map.near, count = this.once(`near-counts${map.run}`, () => bytes(map.near.counts))[row];
    if (count === 255) return "";
    const sentence = `${count} of the ${k} points beside it ${count === 1 ? "is" : "are"} close in the data.`;
    return count < DOUBTFUL * k ? `Doubtful: only ${sentence}` : sentence;
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

  /* Maps in the window at once, as far as a frame has room; the rest of them in the next slices, and then the others,
     which need not follow every frame of a brush. */
  redraw() {
    this.stopMaps();
    const seen = this.views.filter((view) => view.isSeen()), first = (view) => (view.brush ? -1 : view.drawnAt);
    seen.sort((a, b) => first(a) - first(b)); // who was drawn longest ago: all have their turn under a fast brush
    for (const view of this.views) view.stale = true;
    for (const end = performance.now() + FRAME, left = [...seen]; left.length && performance.now() < end;) left.shift().draw();
    this.stopMaps = inSlices(drawnMaps(seen), () => { this.stopMaps = inSlices(drawnMaps(this.views), () => {}, 60); });
  }

  drawOver() { for (const view of this.views) view.drawOver(); }

  /* A part of the column beside the maps, with a heading; hidden while it is `hidden`. */
  section(id, title) {
    const made = element("section", { id, class: "panel" });
    made.append(element("h3", {}, title));
    document.getElementById("panels").append(made);
    return made;
  }

  /* In slices: the page answers before all of it is drawn. */
  *starting() {
    const byRun = new Map(this.data.maps.map((map) => [map.run, map]));
    if (this.data.full) byRun.set(this.data.full.run, this.data.full);
    this.views = [...document.querySelectorAll("figure.map")].map((figure) => new MapView(figure, byRun.get(Number(figure.dataset.run)), this));
    const resized = new ResizeObserver((entries) => { for (const { target } of entries) this.views.find((view) => view.over.parentNode === target)?.resized(); });
    for (const view of this.views) resized.observe(view.over.parentNode);
    this.curves = new Curves(document.getElementById("curves"), this);
    this.offerColors();
    this.listen();
    yield;
    for (const panel of panels) { panel(this); yield; }
    this.drawAll();
  }

  drawAll() {
    this.drawLegends();
    this.redraw();
    this.stopCharts();
    this.stopCharts = inSlices(this.drawingCharts());
  }

  *drawingCharts() {
    yield* this.curves.drawing();
    yield* drawingPictures(document.getElementById("pictures"), this);
    yield* drawingTrials(document.getElementById("trials"), this);
    this.tell("draw");
    this.ready = true;
  }

  /* All of it in light colours and in the sizes of the paper, hidden by the window or not: a printer does not wait. */
  beginPrint() {
    const closed = [...document.querySelectorAll("details:not([open])")];
    this.printing = { theme: this.theme, closed };
    for (const one of closed) one.open = true;
    document.documentElement.classList.add("printing");
    this.setTheme("light");
    this.drawAll();
    this.stopMaps();
    this.stopCharts();
    atOnce(drawnMaps(this.views));
    atOnce(this.drawingCharts());
  }

  endPrint() {
    if (!this.printing) return;
    const { theme, closed } = this.printing;
    this.printing = null;
    for (const one of closed) one.open = false;
    document.documentElement.classList.remove("printing");
    this.setTheme(theme);
    this.drawAll();
  }

  listen() {
    const repaint = (theme) => { this.setTheme(theme); this.drawAll(); };
    document.getElementById("theme").addEventListener("click", () => repaint(this.theme === "dark" ? "light" : "dark"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => repaint(event.matches ? "dark" : "light"));
    document.getElementById("clear").addEventListener("click", () => this.clear());
    addEventListener("keydown", (event) => { if (event.key === "Escape") this.clear(); });
    for (const button of document.querySelectorAll("[data-fact]"))
      button.addEventListener("click", () => this.selectRows(longs(this.data.regions[Number(button.dataset.fact)].rows)));
    for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => this.copy(button));
    const all = document.getElementById("all");
    all?.addEventListener("click", () => this.showAll(all));
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; this.drawAll(); } });
    for (const head of document.querySelectorAll("#scores thead th")) head.firstElementChild.addEventListener("click", () => this.sort(head));
  }

  /* A command into the clipboard; where the browser refuses, it is selected to be copied by hand. */
  async copy(button) {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  /* The other maps too, or the best alone again. */
  showAll(button) {
    const open = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(open));
    this.allMaps ??= button.textContent;
    button.textContent = open ? "Show the best only" : this.allMaps;
    for (const rest of document.querySelectorAll(".folded")) rest.hidden = !open;
    this.redraw();
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
