/* Two maps beside each other: which neighbours they share, row by row and by group; one laid onto the other; a morph. */

const PAIR_NEIGHBORS = 10;
const MOST_CHANGED = 5; // groups that are listed
const MORPH_SECONDS = 1.6;

/* The k nearest others of every row of a map, by distance and then by number, from a grid of cells; yields between. */
function* mapNeighbors(points, n, k) {
  const cells = Math.max(1, Math.floor(Math.sqrt(n / 3))), size = 65536 / cells;
  const starts = new Uint32Array(cells * cells + 1), members = new Uint32Array(n), cell = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    cell[i] = Math.floor(points[2 * i + 1] / size) * cells + Math.floor(points[2 * i] / size);
    starts[cell[i] + 1]++;
  }
  for (let c = 0; c < cells * cells; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let i = 0; i < n; i++) members[next[cell[i]]++] = i;
  const found = new Uint32Array(n * k), far = new Float64Array(k), who = new Uint32Array(k);
  for (let i = 0; i < n; i++) {
    if (i % 64 === 0) yield null;
    const x = points[2 * i], y = points[2 * i + 1], cx = cell[i] % cells, cy = Math.floor(cell[i] / cells);
    let count = 0;
    const visit = (c) => {
      for (let m = starts[c]; m < starts[c + 1]; m++) {
        const j = members[m];
        if (j === i) continue;
        const dx = points[2 * j] - x, dy = points[2 * j + 1] - y, d = dx * dx + dy * dy;
        if (count === k && (d > far[k - 1] || (d === far[k - 1] && j > who[k - 1]))) continue;
        let at = count < k ? count++ : k - 1;
        for (; at > 0 && (far[at - 1] > d || (far[at - 1] === d && who[at - 1] > j)); at--) { far[at] = far[at - 1]; who[at] = who[at - 1]; }
        far[at] = d;
        who[at] = j;
      }
    };
    for (let reach = 0; reach <= cells; reach++) {
      const [left, right, top, bottom] = [cx - reach, cx + reach, cy - reach, cy + reach];
      for (let v = Math.max(0, top); v <= Math.min(cells - 1, bottom); v++) {
        const whole = v === top || v === bottom;
        for (let u = Math.max(0, left); u <= Math.min(cells - 1, right); u += 1) {
          if (whole || u === left || u === right) visit(v * cells + u);
        }
      }
      // what lies outside the ring is at least this far away
      const room = Math.min(x - left * size, (right + 1) * size - x, y - top * size, (bottom + 1) * size - y);
      if (count === k && far[k - 1] < room * room) break;
    }
    found.set(who, i * k);
  }
  return found;
}

/* B turned, mirrored, moved and sized onto A (orthogonal Procrustes, least squares); the correlation of the two. */
function laidOnto(a, b, n) {
  const mean = (list, c) => { let sum = 0; for (let i = 0; i < n; i++) sum += list[2 * i + c]; return sum / n; };
  const [ax, ay, bx, by] = [mean(a, 0), mean(a, 1), mean(b, 0), mean(b, 1)];
  let xx = 0, xy = 0, yx = 0, yy = 0, aa = 0, bb = 0;
  for (let i = 0; i < n; i++) {
    const p = a[2 * i] - ax, q = a[2 * i + 1] - ay, u = b[2 * i] - bx, v = b[2 * i + 1] - by;
    xx += u * p; xy += u * q; yx += v * p; yy += v * q; // B'A
    aa += p * p + q * q;
    bb += u * u + v * v;
  }
  // The best rotation and the best mirroring of the plane; the better of the two.
  const turn = Math.hypot(xx + yy, xy - yx), flip = Math.hypot(xx - yy, xy + yx), best = Math.max(turn, flip);
  const [c, s] = best === 0 ? [1, 0] : turn >= flip ? [(xx + yy) / turn, (xy - yx) / turn] : [(xx - yy) / flip, (xy + yx) / flip];
  const scale = bb > 0 ? best / bb : 1, out = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) {
    const u = b[2 * i] - bx, v = b[2 * i + 1] - by, w = turn >= flip ? [c * u - s * v, s * u + c * v] : [c * u + s * v, s * u - c * v];
    out[2 * i] = ax + scale * w[0];
    out[2 * i + 1] = ay + scale * w[1];
  }
  return { places: out, correlation: aa > 0 && bb > 0 ? Math.min(1, best / Math.sqrt(aa * bb)) : Number(aa === bb) };
}

class Pair {
  constructor(app) {
    const { maps } = app.data;
    Object.assign(this, { app, maps, k: Math.min(PAIR_NEIGHBORS, app.n - 1), time: 0, stopReading: () => {} });
    this.section = app.section("pair", "Two maps");
    const choice = (title, none) => {
      const label = element("label", {}, title), select = element("select", { "aria-label": `Map ${title}` });
      if (none) select.append(element("option", { value: "none" }, "none"));
      maps.forEach((map, i) => select.append(element("option", { value: i }, `${letter(map)} ${map.name}`)));
      select.addEventListener("change", () => this.compare());
      label.append(select);
      this.section.append(label);
      return select;
    };
    this.first = choice("Map");
    this.second = choice("with", true);
    this.first.value = Math.max(0, maps.findIndex((map) => map.run === app.data.shown));
    this.body = element("div", { "aria-live": "polite" });
    this.section.append(this.body);
    this.before = app.color;
    app.on("color", (value) => { if (value !== "pair" && value !== "overlay") this.before = value; });
    for (const kind of ["select", "color", "draw"]) app.on(kind, () => this.paint());
  }

  get a() { return this.maps[Number(this.first.value)]; }
  get b() { return this.second.value === "none" ? null : this.maps[Number(this.second.value)]; }

  compare() {
    const { app, a, b } = this;
    this.stopReading();
    this.stop();
    this.result = null;
    if (app.color === "pair") app.setColor(this.before);
    app.dropColoring("pair");
    if (!b) { this.body.replaceChildren(); return; }
    this.body.replaceChildren(element("p", { class: "quiet" }, "Comparing…"));
    this.stopReading = inSlices(this.reading(a, b), (result) => { this.result = result; this.offer(); this.show(); app.setColor("pair"); });
  }

  /* What two maps share, row by row. */
  *reading(a, b) {
    const { app, k } = this, near = yield* this.neighbors(a), there = yield* this.neighbors(b);
    const shared = new Uint8Array(app.n), seen = new Int32Array(app.n).fill(-1);
    for (let i = 0; i < app.n; i++) {
      for (let j = 0; j < k; j++) seen[near[i * k + j]] = i;
      for (let j = 0; j < k; j++) if (seen[there[i * k + j]] === i) shared[i]++;
    }
    yield;
    const { places, correlation } = laidOnto(app.points(a), app.points(b), app.n);
    yield;
    return { shared, places, correlation, mean: total(shared) / (k * app.n), groups: this.changed(shared) };
  }

  /* Found once for each map. */
  *neighbors(map) {
    const key = `near${map.run}`, { decoded } = this.app;
    if (!decoded.has(key)) decoded.set(key, yield* mapNeighbors(this.app.points(map), this.app.n, this.k));
    return decoded.get(key);
  }

  offer() {
    const { k } = this, { shared } = this.result, codes = Uint8Array.from(shared, (one) => Math.round((1 - one / k) * 254)), pair = `${letter(this.a)} and ${letter(this.b)}`;
    this.app.addColoring({
      value: "pair", title: `neighbours that differ, ${pair}`, group: "Two maps", worst: true, codes: () => codes,
      legend: () => [`Share of the ${k} nearest that differ between ${pair}:`, "0", "1"],
      tip: (row) => `${shared[row]} of ${k} nearest are the same on ${pair}`,
    });
  }

  /* Classes, or else the groups found in the map; those that changed most first. */
  changed(shared) {
    const { app, k } = this, groups = (app.classes?.names ?? []).map((name) => ({ name, rows: [] }));
    if (app.classes) app.codes.forEach((code, row) => groups[code].rows.push(row));
    else for (const group of app.data.groups ?? []) groups.push({ name: group.name, rows: [...longs(group.rows)] });
    const share = (rows) => rows.reduce((sum, row) => sum + shared[row], 0) / (k * rows.length);
    return groups.filter(({ rows }) => rows.length).map((group) => ({ ...group, share: share(group.rows) })).sort((p, q) => p.share - q.share);
  }

  show() {
    const { app, a, b, k } = this, { mean, correlation, groups } = this.result;
    const summary = element("p", {}, `Of the ${k} nearest on ${letter(a)}, ${(mean * k).toFixed(1)} are among the ${k} nearest on ${letter(b)} (by chance: ${((k * k) / (app.n - 1)).toFixed(1)}). `);
    summary.append(element("span", { class: "quiet" }, `Laid onto ${letter(a)}: Procrustes correlation ${correlation.toFixed(3)}.`));
    const list = element("ol", { "aria-label": "Groups that changed most" });
    for (const { name, rows, share } of groups.slice(0, MOST_CHANGED)) {
      const item = element("li"), button = element("button", { type: "button", title: `${counted(rows.length, "row")}. Click to select them.` });
      button.append(element("span", {}, name), element("span", { class: "quiet" }, `${percent(share)} kept`));
      button.addEventListener("click", () => app.selectRows(rows));
      item.append(button);
      list.append(item);
    }
    this.canvas = element("canvas", { role: "img", "aria-label": `${a.name} becoming ${b.name}` });
    this.slider = element("input", { type: "range", min: 0, max: 100, value: 0, "aria-label": `From ${a.name} to ${b.name}` });
    this.slider.addEventListener("input", () => { this.stop(); this.time = this.slider.value / 100; this.paint(); });
    this.button = element("button", { type: "button", "aria-label": "Play" }, "▶");
    this.button.addEventListener("click", () => this.play());
    const bar = element("div", { class: "morph" });
    bar.append(element("b", { class: "letter" }, letter(a)), this.slider, element("b", { class: "letter" }, letter(b)), this.button);
    this.time = 0;
    this.body.replaceChildren(summary, this.canvas, bar, ...(groups.length ? [element("h4", {}, "Changed most"), list] : []));
    this.paint();
  }

  // ---- the morph ----

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.button) this.button.textContent = "▶";
  }

  /* To the other end; at once for readers who asked for less motion. */
  play() {
    if (this.frame) { this.stop(); return; }
    const from = this.time, to = from < 0.5 ? 1 : 0, begun = performance.now();
    const move = (time) => { this.time = time; this.slider.value = 100 * time; this.paint(); };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) { move(to); return; }
    this.button.textContent = "❚❚";
    const step = () => {
      const share = Math.min(1, (performance.now() - begun) / (1000 * MORPH_SECONDS)), eased = share * share * (3 - 2 * share);
      move(from + (to - from) * eased);
      if (share < 1) this.frame = requestAnimationFrame(step); else this.stop();
    };
    this.frame = requestAnimationFrame(step);
  }

  /* All rows between their places on the two maps, in the colours of the page. */
  paint() {
    if (!this.result || !this.canvas?.isConnected) return;
    const { app, canvas, time } = this, { places } = this.result, points = app.points(this.a), n = app.n;
    const side = Math.round(canvas.clientWidth * Math.min(2, devicePixelRatio || 1));
    if (!side) return;
    if (canvas.width !== side) canvas.width = canvas.height = side;
    const context = canvas.getContext("2d"), image = context.createImageData(side, side), ink = new Uint32Array(image.data.buffer);
    const box = this.frameOf(points, places, n), scale = (side - 16) / box.size, dot = Math.round((side / 300) * (n < 1500 ? 4 : n < 6000 ? 3 : 2));
    const coloring = app.coloring(this.a);
    ink.fill(packedColor(app.paper, 0));
    for (const chosen of app.nSelected ? [0, 1] : [1]) for (const i of coloring.order) {
      if (app.nSelected && app.selected[i] !== chosen) continue;
      const x = Math.round(8 + (points[2 * i] + time * (places[2 * i] - points[2 * i]) - box.left) * scale);
      const y = Math.round(side - 8 - (points[2 * i + 1] + time * (places[2 * i + 1] - points[2 * i + 1]) - box.low) * scale);
      const color = packedColor(chosen ? coloring.colors : coloring.faded, coloring.codes[i]);
      for (let v = 0; v < dot; v++) for (let u = 0; u < dot; u++) ink[(y + v - (dot >> 1)) * side + x + u - (dot >> 1)] = color;
    }
    context.putImageData(image, 0, 0);
  }

  /* One frame for both ends, so that nothing jumps. */
  frameOf(points, places, n) {
    if (this.result.box) return this.result.box;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const list of [points, places]) for (let i = 0; i < n; i++) {
      left = Math.min(left, list[2 * i]); right = Math.max(right, list[2 * i]);
      low = Math.min(low, list[2 * i + 1]); high = Math.max(high, list[2 * i + 1]);
    }
    const size = Math.max(right - left, high - low) || 1;
    return (this.result.box = { left: left - (size - right + left) / 2, low: low - (size - high + low) / 2, size });
  }
}

panels.push((app) => { if (app.data.maps.length > 1) app.pair = new Pair(app); });
