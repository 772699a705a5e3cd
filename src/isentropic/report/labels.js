/* Names on the maps: of classes and groups at their densest place, of few rows beside their points. No name overlaps
   another one. */

const MOST_LABELS = 24; // classes that are named inside the maps
const MOST_NAMED_ROWS = 60; // rows that are named one by one
const LABEL_CELLS = 40; // along the wider side, in which rows are counted
const LONGEST_LABEL = 22;

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
  box(name, x, y) {
    const { view, line } = this, half = this.context.measureText(name).width / 2 + 3 * view.ratio;
    const inside = (value, room, most) => Math.max(room, Math.min(most - room, value));
    return { x: inside(x, half, view.width), y: inside(y, line / 2, view.height), half, tall: line / 2 };
  }

  isFree({ x, y, half, tall }, boxes) {
    return boxes.every((other) => Math.abs(other.x - x) >= other.half + half || Math.abs(other.y - y) >= other.tall + tall);
  }

  /* At the first of the places that meets no name, and if possible none of the points. */
  put(name, places, points = []) {
    const boxes = places.map(([x, y]) => this.box(name, x, y)), free = boxes.filter((box) => this.isFree(box, this.taken));
    const found = free.find((box) => this.isFree(box, points)) ?? free[0];
    if (!found) return;
    this.taken.push(found);
    const { context, view } = this;
    context.strokeStyle = view.app.css("--sheet");
    context.lineWidth = 4 * view.ratio;
    context.strokeText(name, found.x, found.y);
    context.fillStyle = view.app.css("--ink");
    context.fillText(name, found.x, found.y);
  }

  /* Levels, the largest first: over their densest place, or a line or two beside it. */
  putLevels(names, places) {
    const { view, line } = this, order = places.map((_, code) => code).filter((code) => places[code]).sort((a, b) => places[b].n - places[a].n);
    for (const code of order) {
      const x = view.left + (places[code].x / 65535) * view.scale, y = view.top + (view.map.height - places[code].y / 65535) * view.scale;
      const beside = [[0, 0], [0, -1.2], [0, 1.2], [0, -2.4], [0, 2.4]].map(([dx, dy]) => [x + dx * line, y + dy * line]);
      this.put(shortened(names[code]), beside);
    }
  }

  /* Every row: to the right of its point, or the left, above, below. */
  putRows(names) {
    const { view, line } = this, { px, py, radius } = view, gap = radius + 3 * view.ratio;
    const points = Array.from(px, (x, i) => ({ x, y: py[i], half: radius, tall: radius }));
    names.forEach((name, i) => {
      const text = shortened(name), half = this.context.measureText(text).width / 2 + 3 * view.ratio;
      this.put(text, [[px[i] + gap + half, py[i]], [px[i] - gap - half, py[i]], [px[i], py[i] - gap - line / 2], [px[i], py[i] + gap + line / 2]], points);
    });
  }
}
