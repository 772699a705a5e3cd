/* The honest lasso: is what was selected on a map a group of the data too? What `isentropic.quality.check_selection`
   and `corrected_selection` say, in the browser; the marks in the maps; and the column beside them. */

const MOST_DIFFERENCES = 5; // that are listed at once
const FEW_MARKS = 120; // up to which marks are large
const MOST_MARKS = 500; // of a kind that are drawn; the column gives the whole number

/* For each row how many of its k nearest rows in the data are inside. */
function insideCounts(neighbors, k, flags) {
  const counts = new Uint8Array(flags.length);
  for (let i = 0; i < flags.length; i++) {
    let count = 0;
    for (let j = i * k; j < (i + 1) * k; j++) count += flags[neighbors[j]];
    counts[i] = count;
  }
  return counts;
}

function checkedSelection(neighbors, k, flags) {
  const counts = insideCounts(neighbors, k, flags), leftOut = [], strangers = [];
  let within = 0, size = 0;
  for (let i = 0; i < flags.length; i++) {
    if (flags[i]) { within += counts[i]; size++; if (2 * counts[i] < k) strangers.push(i); }
    else if (2 * counts[i] > k) leftOut.push(i);
  }
  return { size, kept: within / (k * size), chance: (size - 1) / (flags.length - 1), leftOut, strangers };
}

/* Those who belong join until nobody is left out, then strangers leave until there are none. */
function correctedSelection(neighbors, k, flags) {
  const found = Uint8Array.from(flags);
  for (const joining of [1, 0]) for (let moved = true; moved;) {
    const { leftOut, strangers } = checkedSelection(neighbors, k, found), rows = joining ? leftOut : strangers;
    for (const row of rows) found[row] = joining;
    moved = rows.length > 0;
  }
  return found;
}

class Selecting {
  constructor(app) {
    Object.assign(this, { app, columns: app.given.filter((column) => column.explained), check: null, settled: null, kept: null, undo: null, stop: () => {} });
    this.box = app.section("selection", "Selection");
    this.answerBox = element("div", { class: "answer-box" });
    this.why = element("div", { class: "why" });
    this.box.append(this.answerBox, this.why);
    app.on("select", () => { this.measure(); this.undo = null; this.say(); this.forgetWhy(); });
    app.on("settle", () => { this.settled = app.selected; this.markAll(); this.ask(); });
    app.on("points", (view, context) => { if (this.check && this.settled === app.selected) this.mark(view, context); });
    this.measure();
    this.say();
    this.ask();
  }

  measure() {
    const { app } = this;
    this.check = app.nSelected && app.k ? checkedSelection(app.neighbors, app.k, app.selected) : null;
  }

  // ---- in the maps ----

  markAll() { if (this.check) for (const view of this.app.views) if (view.width && !view.stale) this.mark(view, view.base.getContext("2d")); }

  /* A ring around who was left out, a cross over a stranger; paper below both, so that they stand out on any colour.
     Many marks are small ones: the points matter more. */
  mark(view, context) {
    const { px, py, ratio } = view, { leftOut, strangers } = this.check, many = leftOut.length + strangers.length > FEW_MARKS;
    const r = view.radius + (many ? 0.5 : 2) * ratio, ring = new Path2D(), cross = new Path2D();
    for (const i of this.drawnMarks(leftOut)) { ring.moveTo(px[i] + r, py[i]); ring.arc(px[i], py[i], r, 0, 7); }
    for (const i of this.drawnMarks(strangers)) {
      cross.moveTo(px[i] - r, py[i] - r); cross.lineTo(px[i] + r, py[i] + r);
      cross.moveTo(px[i] - r, py[i] + r); cross.lineTo(px[i] + r, py[i] - r);
    }
    const strokes = many ? [["--sheet", 2], ["", 0.9]] : [["--sheet", 3.6], ["", 1.6]];
    for (const [path, color] of [[ring, "--accent"], [cross, "--damage"]]) for (const [ink, width] of strokes) {
      context.strokeStyle = this.app.css(ink || color);
      context.lineWidth = width * ratio;
      context.stroke(path);
    }
  }

  /* All of them, or as many as there is room for, drawn by the shuffled order. */
  drawnMarks(rows) {
    const { order, n } = this.app;
    return rows.length > MOST_MARKS ? rows.filter((row) => order[row] < (n * MOST_MARKS) / rows.length) : rows;
  }

  // ---- how honest it is ----

  say() {
    const { check, app } = this, briefs = document.querySelectorAll(".brief");
    for (const brief of briefs) brief.replaceChildren(...(check ? this.brief() : []));
    if (!check) {
      const start = app.nSelected ? "Too few rows have neighbours to say more." : "Drag over points in any map: what the rows have in common, and whether they belong together in the data, stands here.";
      this.answerBox.replaceChildren(element("p", { class: "quiet" }, start), ...this.keptNote());
      return;
    }
    const { size, kept, chance, leftOut, strangers } = check, parts = [];
    const strip = element("div", { class: "strip", title: `Of the ${app.k} nearest rows in the data of each selected row, the share that is selected too. As many rows drawn at random would have ${percent(chance)}.` });
    const scale = element("span", { class: "scale", "aria-hidden": "true" });
    for (const [kind, at, side] of [["chance", chance, "width"], ["own", kept, "left"]]) { const mark = element("i", { class: kind }); mark.style[side] = `${100 * at}%`; scale.append(mark); }
    const ends = element("span", { class: "ends" });
    ends.append(element("span", {}, `by chance ${percent(chance)}`));
    strip.append(element("span", { class: "what" }, "true neighbours inside"), element("span", { class: "value" }, percent(kept)), scale, ends);
    parts.push(element("p", { class: "count" }, counted(size, "row")), strip);
    if (leftOut.length) parts.push(this.fact("ring", `${counted(leftOut.length, "row")} left out: most of their nearest rows are inside.`));
    if (strangers.length) parts.push(this.fact("cross", `${counted(strangers.length, "stranger")} inside: most of their nearest rows are outside.`));
    if (!leftOut.length && !strangers.length) parts.push(element("p", { class: "quiet" }, "Nobody is left out, and nobody is a stranger."));
    parts.push(this.actions());
    this.answerBox.replaceChildren(...parts, ...this.keptNote());
  }

  fact(kind, text) {
    const line = element("p", { class: "fact" }), svg = element("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" });
    svg.append(kind === "ring" ? element("circle", { class: "ringed", r: 5 }) : element("path", { class: "cross", d: "M-5-5L5 5M-5 5L5-5" }));
    line.append(svg, element("span", {}, text));
    return line;
  }

  button(text, act, id = "") {
    const made = element("button", { type: "button", id }, text);
    made.addEventListener("click", act);
    return made;
  }

  get wrong() { return this.check ? this.check.leftOut.length + this.check.strangers.length : 0; }

  actions() {
    const row = element("div", { class: "actions" });
    if (this.undo) {
      row.append(element("span", { class: "quiet" }, this.undo.text));
      if (this.undo.flags) row.append(this.button("Undo", () => this.app.choose(this.undo.flags), "undo"));
    } else if (this.wrong) row.append(this.button("Correct it", () => this.correct(), "correct"));
    if (!this.kept) row.append(this.button("Keep to compare", () => this.keep(), "keep"));
    return row;
  }

  correct() {
    const { app } = this, before = app.selected, after = correctedSelection(app.neighbors, app.k, before);
    let joined = 0, left = 0;
    for (let i = 0; i < app.n; i++) { joined += after[i] && !before[i]; left += before[i] && !after[i]; }
    if (left === this.check.size && !joined) {
      this.undo = { flags: null, text: "Nobody would stay: these rows are no group of the data." };
      this.say();
      return;
    }
    app.choose(after);
    this.undo = { flags: before, text: `${joined.toLocaleString("en")} joined, ${left.toLocaleString("en")} left.` };
    this.say();
    document.getElementById("undo")?.focus();
  }

  /* Under the large map, which stands far from the column. */
  brief() {
    const { check } = this, parts = [`${percent(check.kept)} of their true neighbours are inside`];
    if (check.leftOut.length) parts.push(`${check.leftOut.length.toLocaleString("en")} left out`);
    if (check.strangers.length) parts.push(counted(check.strangers.length, "stranger"));
    const line = [element("span", {}, `${counted(check.size, "row")}: ${parts.join(", ")}.`)];
    if (this.wrong && !this.undo) { const correct = this.button("Correct it", () => this.correct()); correct.className = "link"; line.push(correct); }
    line.push(element("a", { href: "#maps" }, "What are they?"));
    return line;
  }

  // ---- a second selection ----

  keep() {
    this.kept = this.app.selected;
    this.say();
    this.ask();
  }

  keptNote() {
    if (!this.kept) return [];
    const line = element("p", { class: "kept" });
    line.append(element("span", {}, `${counted(total(this.kept), "row")} kept. Select others to compare with them.`), this.button("Let go", () => { this.kept = null; this.say(); this.ask(); }, "release"));
    return [line];
  }

  /* The two sides that are compared, or why there are none. */
  compared() {
    const { app, kept } = this, inside = kept ?? app.selected;
    const other = Uint8Array.from(inside, kept ? (flag, i) => Number(app.selected[i] && !flag) : (flag) => 1 - flag);
    return { inside, other, sizes: [total(inside), total(other)] };
  }

  // ---- why these rows ----

  forgetWhy() { this.stop(); this.why.replaceChildren(); }

  ask() {
    this.forgetWhy();
    this.answer = null;
    const { inside, other, sizes } = this.compared();
    if (!this.columns.length || (!this.app.nSelected && !this.kept)) return;
    if (this.kept && !sizes[1]) return;
    const head = element("h4", {}, this.kept ? "What tells the kept rows from the selected" : "What sets them apart");
    if (Math.min(...sizes) < FEWEST_ROWS) {
      const side = sizes[0] < FEWEST_ROWS ? "rows" : "others";
      this.why.replaceChildren(head, element("p", { class: "quiet" }, `At least ${FEWEST_ROWS} ${side} are needed to say.`));
      return;
    }
    const waiting = element("p", { class: "quiet" }, `Reading ${counted(this.columns.length, "column")} …`);
    this.why.replaceChildren(head, waiting);
    this.stop = inSlices(explaining(this.columns, inside, other), (found) => { this.answer = found; this.tellWhy(head, found, inside, other); });
  }

  tellWhy(head, found, inside, other) {
    const list = element("ol", { class: "differences" }), lines = explanationLines(found), byName = new Map(this.columns.map((column) => [column.name, column]));
    function* listed(from, to) {
      for (let i = from; i < Math.min(to, lines.length); i++) {
        const item = element("li"), one = found.differences[i];
        item.append(element("span", {}, lines[i]));
        if (one) item.append(distribution(byName.get(one.column), one.level, inside, other));
        list.append(item);
        yield;
      }
    }
    atOnce(listed(0, MOST_DIFFERENCES));
    const more = this.button(`Show all ${lines.length}`, () => { more.remove(); this.stop = inSlices(listed(MOST_DIFFERENCES, lines.length)); });
    more.className = "link";
    this.why.replaceChildren(head, list, ...(lines.length > MOST_DIFFERENCES ? [more] : []), ...(found.differences.length ? [this.keyOfSides()] : []), this.noteOfHalves());
  }

  keyOfSides() {
    const key = element("p", { class: "key" });
    key.append(element("i", { class: "these" }), this.kept ? "the kept rows" : "these rows", element("i", { class: "those" }), this.kept ? "the selected rows" : "the others");
    return key;
  }

  noteOfHalves() {
    const all = this.app.data.given.n_all - this.app.given.filter((column) => !column.explained).length, few = this.columns.length < all ? ` Of ${all.toLocaleString("en")} columns the page holds ${this.columns.length.toLocaleString("en")}.` : "";
    return element("p", { class: "note quiet" }, `Half of the rows chose the columns, the other half tested them. Rows picked by their place on a map differ in columns that made the map, be it all noise: this says by what, not that they are a group.${few}`);
  }
}

/* Shares of values inside (above) and outside (below), or two bars for a level. */
function distribution(column, level, inside, other) {
  const width = 280, height = 34, svg = element("svg", { width: "100%", height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "distribution", "aria-hidden": "true" });
  const counts = [inside, other].map((flags) => {
    const found = new Float64Array(column.n);
    for (let i = 0; i < flags.length; i++) if (flags[i] && column.codes[i] !== column.missing) found[column.codes[i]]++;
    return found;
  });
  if (column.levels) drawShares(svg, counts, column.levels.indexOf(level), width); else drawHistograms(svg, column, counts, width, height);
  return svg;
}

function drawShares(svg, counts, code, width) {
  counts.forEach((list, side) => {
    const share = list[code] / (total(list) || 1), y = 6 + 12 * side;
    svg.append(element("rect", { class: "rest", x: 0, y, width, height: 9 }), element("rect", { class: side ? "those" : "these", x: 0, y, width: width * share, height: 9 }));
  });
}

function drawHistograms(svg, column, counts, width, height) {
  const totals = counts.map(total), bins = 35, [low, high] = middleRange(column, counts, totals);
  const bin = (code) => Math.max(0, Math.min(bins - 1, Math.floor(((column.value(code) - low) / (high - low || 1)) * bins)));
  const heights = counts.map((list, side) => {
    const found = new Float64Array(bins);
    list.forEach((count, code) => { if (count) found[bin(code)] += count / totals[side]; });
    return found;
  });
  const most = Math.max(...heights[0], ...heights[1]) || 1;
  heights.forEach((list, side) => list.forEach((share, at) => {
    const tall = (share / most) * (height / 2 - 1);
    if (share) svg.append(element("rect", { class: side ? "those" : "these", x: (at * width) / bins, y: side ? height / 2 + 0.5 : height / 2 - 0.5 - tall, width: width / bins - 0.6, height: tall }));
  }));
  svg.append(element("line", { class: "axis", x1: 0, x2: width, y1: height / 2, y2: height / 2 }));
}

/* From the first to the last hundredth of either side: one far value must not squeeze all others. */
function middleRange(column, counts, totals) {
  let low = Infinity, high = -Infinity;
  counts.forEach((list, side) => {
    let sum = 0;
    list.forEach((count, code) => {
      if (count && sum <= 0.99 * totals[side] && sum + count >= 0.01 * totals[side]) { low = Math.min(low, column.value(code)); high = Math.max(high, column.value(code)); }
      sum += count;
    });
  });
  return [low, high];
}

panels.push((app) => { app.selecting = new Selecting(app); });
