/* Numbers that Python packed, and points on a sheet of pixels. Points are stamped into pixels by a loop of ours: at
   9 maps of 50,000 points that takes tens of milliseconds without a graphics card, where a call for each point would
   take seconds. */

function bytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // tenfold faster, where the browser has it
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
const words = (text) => new Uint16Array(bytes(text).buffer);
const longs = (text) => new Uint32Array(bytes(text).buffer);
const total = (flags) => flags.reduce((sum, flag) => sum + flag, 0);

/* A colour of a table of red, green and blue, as one pixel of a canvas. */
const packedColor = (table, code) => (0xff000000 | (table[3 * code + 2] << 16) | (table[3 * code + 1] << 8) | table[3 * code]) >>> 0;

/* A fixed shuffle: rows are drawn in an order that favours no class, the same one every time. */
function shuffled(n) {
  const order = new Uint32Array(n);
  let seed = 1;
  for (let i = 0; i < n; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 4294967296) * (i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  return order;
}

/* Rows by the rank of their code (below 256), those of one rank as in `order`. A counting sort: it runs at every click. */
function byCode(order, codes, rank) {
  const starts = new Uint32Array(257), ranks = Uint8Array.from({ length: 256 }, (_, code) => rank(code)), out = new Uint32Array(order.length);
  for (const row of order) starts[ranks[codes[row]] + 1]++;
  for (let r = 0; r < 256; r++) starts[r + 1] += starts[r];
  for (const row of order) out[starts[ranks[codes[row]]]++] = row;
  return out;
}

/* How much of a pixel a shape covers, sampled 4 x 4 times; u and v in units of the radius. */
const COVERS = {
  disc: (u, v) => u * u + v * v <= 1,
  ring: (u, v) => { const d = u * u + v * v; return d <= 1.25 && d >= 0.42; },
  cross: (u, v) => Math.max(Math.abs(u), Math.abs(v)) <= 1.15 && (Math.abs(u) < 0.36 || Math.abs(v) < 0.36),
  square: (u, v) => { const d = Math.max(Math.abs(u), Math.abs(v)); return d <= 1.05 && d >= 0.55; },
};
const SUB = 3; // positions of a stamp between two pixels, in each direction

/* For each of these positions the pixels that the shape touches, on paper of some width: how far they are from the
   corner of the stamp, in bytes of an image, and how much of 256 of its colour each takes. */
function stamps(shape, radius, opacity, width) {
  const reach = Math.ceil(radius * 1.25 + 1), size = 2 * reach + 1, all = [];
  for (let sy = 0; sy < SUB; sy++) for (let sx = 0; sx < SUB; sx++) {
    const offsets = [], shares = [];
    for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) {
      let hits = 0;
      for (let b = 0; b < 4; b++) for (let a = 0; a < 4; a++) {
        const u = (x - reach + (a + 0.5) / 4 - (sx + 0.5) / SUB) / radius;
        const v = (y - reach + (b + 0.5) / 4 - (sy + 0.5) / SUB) / radius;
        if (COVERS[shape](u, v)) hits++;
      }
      const share = Math.round((hits / 16) * opacity * 256);
      if (share) { offsets.push(4 * (y * width + x)); shares.push(share); }
    }
    all.push({ offsets: Int32Array.from(offsets), shares: Int32Array.from(shares) });
  }
  return { reach, size, all };
}

/* A map on paper of some size: where its rows are, in pixels, and the picture of them. */
class Sheet {
  constructor(app, map) {
    const none = new Float32Array(0); // until it has a size: keys and pointers find no rows
    Object.assign(this, { app, map, kept: {}, px: none, py: none });
  }

  get points() { return this.app.points(this.map); } // when they are drawn: nobody may ask for this map

  /* Takes a size in pixels, `ratio` of them to a pixel of the style sheet. */
  fit(width, height, ratio) {
    Object.assign(this, { width, height, ratio, kept: {} });
    const { map, points } = this, { n } = this.app, largest = this.app.copies ? Math.sqrt(MOST_COPIES) : 1;
    // A few large points or many small ones: the ink on the paper stays about the same.
    const most = n <= MOST_NAMED_ROWS ? 5.5 : 4.2, side = Math.min(width, height * 1.4) / ratio;
    this.radius = ratio * Math.max(1.0, Math.min(most, 2.6 * Math.pow(3000 / points.length, 0.28) * Math.sqrt(side / 400)));
    const pad = Math.max(16 * ratio, 1.25 * this.radius * largest + 2);
    const scale = Math.min((width - 2 * pad) / (map.width || 1e-9), (height - 2 * pad) / (map.height || 1e-9));
    this.scale = Math.min(scale, width - 2 * pad);
    this.left = (width - this.scale * map.width) / 2;
    this.top = (height - this.scale * map.height) / 2;
    [this.px, this.py] = this.places(0, n);
    // Rows of a map of all rows that the other maps do not have: they are seen, and nothing more.
    const more = points.length / 2 - n, [px, py] = this.places(n, more);
    this.others = more ? { px, py, order: Uint32Array.from({ length: more }, (_, i) => i) } : null;
    this.image = new ImageData(width, height);
    this.opacity = Math.max(0.55, Math.min(0.92, 1.1 - 0.11 * Math.log10(n)));
    this.stamps = new Map();
  }

  /* The stamp of a shape for rows that stand for so many, made when it is needed first. */
  stampOf(shape, copies = 1) {
    const count = Math.min(MOST_COPIES, copies), key = `${shape}${count}`;
    if (!this.stamps.has(key)) this.stamps.set(key, stamps(shape, this.radius * Math.sqrt(count), this.opacity, this.width));
    return this.stamps.get(key);
  }

  /* Of `count` points from the one at `first` on. */
  places(first, count) {
    const { points, left, top, scale } = this, { height } = this.map, px = new Float32Array(count), py = new Float32Array(count);
    for (let i = 0, p = 2 * first; i < count; i++, p += 2) {
      px[i] = left + (points[p] / 65535) * scale;
      py[i] = top + (height - points[p + 1] / 65535) * scale;
    }
    return [px, py];
  }

  /* Below all others: in their colours where they are known, or grey. */
  stampOthers(coloring, faded) {
    if (!this.others) return;
    const { px, py } = this, known = this.app.way.others?.();
    const codes = known ?? new Uint8Array(this.others.px.length);
    const grey = this.app.tables([this.app.rgb(this.app.css("--grey"))]);
    const { colors, faded: pale, shapes } = known ? coloring : { ...grey, shapes: ["disc"] };
    Object.assign(this, { px: this.others.px, py: this.others.py });
    this.stamp(this.others.order, null, { codes, shapes }, faded || !known ? pale : colors, null);
    Object.assign(this, { px, py });
  }

  /* Stamps the rows of `order` for which `which` holds (all without it). */
  stamp(order, which, coloring, colors, copies = this.app.copies) {
    const data = this.image.data, { width, height, px, py } = this, { codes, shapes } = coloring;
    const kinds = shapes.map((shape) => this.stampOf(shape));
    for (let o = 0; o < order.length; o++) {
      const i = order[o];
      if (which && !which[i]) continue;
      const code = codes[i], kind = copies?.[i] > 1 ? this.stampOf(shapes[code % shapes.length], copies[i]) : kinds[code % kinds.length], { reach, size } = kind;
      const x = px[i], y = py[i], fx = Math.floor(x), fy = Math.floor(y);
      const { offsets, shares } = kind.all[Math.min(SUB - 1, Math.floor((y - fy) * SUB)) * SUB + Math.min(SUB - 1, Math.floor((x - fx) * SUB))];
      const r = colors[3 * code], g = colors[3 * code + 1], b = colors[3 * code + 2];
      const x0 = fx - reach, y0 = fy - reach, corner = 4 * (y0 * width + x0);
      if (x0 < 0 || y0 < 0 || x0 + size > width || y0 + size > height) continue; // the padding prevents it
      for (let m = 0; m < offsets.length; m++) {
        const p = corner + offsets[m], share = shares[m];
        data[p] += ((r - data[p]) * share) >> 8;
        data[p + 1] += ((g - data[p + 1]) * share) >> 8;
        data[p + 2] += ((b - data[p + 2]) * share) >> 8;
      }
    }
  }

  /* A picture of all rows, kept until the colours, the theme or the size change. */
  picture(coloring, faded) {
    const key = `${coloring.key}|${this.app.theme}|${faded}`;
    if (!this.kept[key]) {
      this.painted = (this.painted || 0) + 1;
      const { data } = this.image;
      new Uint32Array(data.buffer).fill(packedColor(this.app.paper, 0));
      this.stampOthers(coloring, faded);
      this.stamp(coloring.order, null, coloring, faded ? coloring.faded : coloring.colors);
      this.kept = { ...(faded ? this.kept : {}), [key]: data.slice() };
      const keys = Object.keys(this.kept); // two pictures are enough: all rows, and all of them faded
      if (keys.length > 2) delete this.kept[keys[0]];
    }
    this.image.data.set(this.kept[key]);
  }

  /* All rows in their colours; where some are selected, the others faded. */
  paint() {
    const { app } = this, coloring = app.coloring(this.map), chosen = app.nSelected > 0;
    this.picture(coloring, chosen);
    if (chosen) this.stamp(coloring.order, app.selected, coloring, coloring.colors);
  }
}
