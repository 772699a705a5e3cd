/* Names on the maps: of classes and groups at their densest place, of few rows beside their points. No name overlaps
   another one. */

const MOST_LABELS = 24; // classes that are named inside the maps
const MOST_NAMED_ROWS = 60; // rows that are named one by one
const LABEL_CELLS = 40; // along the wider side, in which rows are counted
const LONGEST_LABEL = 22;
const MOST_AVOIDED = 5_000; // points that names of groups keep away from

const shortened = (name, most = LONGEST_LABEL) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

/* Counts of cells, each with those around it; twice, so that near ones count more. */
function blurred(counts) {
  let from = counts;
  for (let round = 0; round < 2; round++) {
    const to = new Float32Array(from.length);
    for (let y = 0; y < LABEL_CELLS; y++) for (let x = 0; x < LABEL_CELLS; x++) {
      let sum = 0;
      for (let v = Math.max(0, y - 1); v <= Math.min(LABEL_CELLS - 1, y + 1); v++)
        for (let u = Math.max(0, x - 1); u <= Math.min(LABEL_CELLS - 1, x + 1); u++) sum += from[v * LABEL_CELLS + u];
      to[y * LABEL_CELLS + x] = sum;
    }
    from = to;
  }
  return from;
}

/* For each level where on the map its rows are densest, and of such places the one with the fewest others; how many rows
   it has. Coordinates as in `points`, which has two of 65,535 for each row; null for a level without rows. */
function densestPlaces(points, codes, count) {
  const cells = LABEL_CELLS * LABEL_CELLS, own = Array.from({ length: count }, () => new Float32Array(cells)), every = new Float32Array(cells);
  const at = (value) => Math.min(LABEL_CELLS - 1, Math.floor((value / 65536) * LABEL_CELLS)), sizes = new Uint32Array(count);
  for (let i = 0; i < codes.length; i++) {
    const cell = at(points[2 * i + 1]) * LABEL_CELLS + at(points[2 * i]);
    every[cell]++;
    if (codes[i] < count) { own[codes[i]][cell]++; sizes[codes[i]]++; }
  }
  const all = blurred(every), best = own.map((counts) => densestCell(blurred(counts), all)), sums = best.map(() => [0, 0, 0]);
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] >= count) continue;
    const cell = best[codes[i]], x = at(points[2 * i]), y = at(points[2 * i + 1]), sum = sums[codes[i]];
    if (Math.abs(x - (cell % LABEL_CELLS)) > 1 || Math.abs(y - Math.floor(cell / LABEL_CELLS)) > 1) continue;
    sum[0] += points[2 * i]; sum[1] += points[2 * i + 1]; sum[2]++;
  }
  return sums.map(([x, y, n], code) => (n ? { x: x / n, y: y / n, n: sizes[code] } : null));
}

function densestCell(own, all) {
  const peak = own.reduce((most, one) => Math.max(most, one), 0);
  let best = 0, most = -Infinity;
  for (let cell = 0; cell < own.length; cell++) {
    const worth = own[cell] - 0.5 * (all[cell] - own[cell]);
    if (own[cell] >= peak / 2 && own[cell] > 0 && worth > most) { most = worth; best = cell; }
  }
  return best;
}

/* Levels that have rows, the largest first. */
const largestFirst = (places) => places.map((_, code) => code).filter((code) => places[code]).sort((a, b) => places[b].n - places[a].n);

/* Puts names where there is room. */
class Labels {
  constructor(view, context, size) {
    Object.assign(this, { view, context, taken: [...view.pins], line: 1.3 * size * view.ratio });
    context.font = `600 ${size * view.ratio}px ${view.app.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
  }

  /* The box of a name around a place, moved inside the paper. */
  box(lines, x, y) {
    const { view, line } = this, half = Math.max(...lines.map((text) => this.context.measureText(text).width)) / 2 + 3 * view.ratio;
    const inside = (value, room, most) => Math.max(room, Math.min(most - room, value)), tall = (lines.length * line) / 2;
    return { x: inside(x, half, view.width), y: inside(y, tall, view.height), half, tall };
  }

  isFree({ x, y, half, tall }, boxes) {
    return boxes.every((other) => Math.abs(other.x - x) >= other.half + half || Math.abs(other.y - y) >= other.tall + tall);
  }

  /* At the first of the places that meets no name, and if possible none of the points. */
  put(lines, places, points = []) {
    const boxes = places.map(([x, y]) => this.box(lines, x, y)), free = boxes.filter((box) => this.isFree(box, this.taken));
    const found = free.find((box) => this.isFree(box, points)) ?? free[0];
    if (!found) return;
    this.taken.push(found);
    const { context, view } = this;
    context.strokeStyle = view.app.css("--sheet");
    context.lineWidth = 4 * view.ratio;
    context.fillStyle = view.app.css("--ink");
    lines.forEach((text, i) => {
      const y = found.y + (i - (lines.length - 1) / 2) * this.line;
      context.strokeText(text, found.x, y);
      context.fillText(text, found.x, y);
    });
  }

  /* Levels, the largest first: over their densest place, or a line or two beside it. */
  putLevels(names, places) {
    const { view, line } = this;
    for (const code of largestFirst(places)) {
      const [x, y] = view.placeOf(places[code]);
      this.put([shortened(names[code])], [0, -1.2, 1.2, -2.4, 2.4].map((lines) => [x, y + lines * line]));
    }
  }

  /* Groups, a line for each of the two columns in their names: above their rows or below them, or over the densest place. */
  putGroups(names, places, codes) {
    const { view, line } = this, { px, py, radius } = view, ends = names.map(() => [Infinity, -Infinity]);
    codes.forEach((code, row) => { if (ends[code]) ends[code] = [Math.min(ends[code][0], py[row]), Math.max(ends[code][1], py[row])]; });
    const points = px.length <= MOST_AVOIDED ? Array.from(px, (x, i) => ({ x, y: py[i], half: radius, tall: radius })) : [];
    for (const code of largestFirst(places)) {
      const lines = names[code].split(", ").slice(0, 2).map((part) => shortened(part)), room = (lines.length * line) / 2 + radius + 2 * view.ratio;
      const [x, y] = view.placeOf(places[code]), [top, bottom] = ends[code];
      this.put(lines, [[x, top - room], [x, bottom + room], [x, y]], points);
    }
  }

  /* Every row: to the right of its point, or the left, above, below. */
  putRows(names) {
    const { view, line } = this, { px, py, radius } = view, gap = radius + 3 * view.ratio;
    const points = Array.from(px, (x, i) => ({ x, y: py[i], half: radius, tall: radius }));
    names.forEach((name, i) => {
      const text = shortened(name), half = this.context.measureText(text).width / 2 + 3 * view.ratio;
      this.put([text], [[px[i] + gap + half, py[i]], [px[i] - gap - half, py[i]], [px[i], py[i] - gap - line / 2], [px[i], py[i] + gap + line / 2]], points);
    });
  }
}
