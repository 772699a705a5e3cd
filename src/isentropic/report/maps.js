"use strict";
/* Maps: points are stamped into pixels by a loop of ours. At 9 maps of 50,000 points that takes tens of
   milliseconds without a graphics card, where a call for each point would take seconds. */

const CROSSHAIR_REACH = 14; // css pixels from the pointer in which a row is found
const CLICK_REACH = 4; // css pixels that a click may wander before it is a brush
const MOST_LABELS = 24; // classes that are named inside the maps

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
const words = (text) => new Uint16Array(bytes(text).buffer);
const longs = (text) => new Uint32Array(bytes(text).buffer);

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

/* How much of a pixel a shape covers, sampled 4 x 4 times; u and v in units of the radius. */
const COVERS = {
  disc: (u, v) => u * u + v * v <= 1,
  ring: (u, v) => { const d = u * u + v * v; return d <= 1.25 && d >= 0.42; },
  cross: (u, v) => Math.max(Math.abs(u), Math.abs(v)) <= 1.15 && (Math.abs(u) < 0.36 || Math.abs(v) < 0.36),
  square: (u, v) => { const d = Math.max(Math.abs(u), Math.abs(v)); return d <= 1.05 && d >= 0.55; },
};
const SUB = 3; // positions of a stamp between two pixels, in each direction

function stamps(shape, radius, opacity) {
  const reach = Math.ceil(radius * 1.25 + 1), size = 2 * reach + 1, all = [];
  for (let sy = 0; sy < SUB; sy++) for (let sx = 0; sx < SUB; sx++) {
    const mask = new Uint16Array(size * size);
    for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) {
      let hits = 0;
      for (let b = 0; b < 4; b++) for (let a = 0; a < 4; a++) {
        const u = (x - reach + (a + 0.5) / 4 - (sx + 0.5) / SUB) / radius;
        const v = (y - reach + (b + 0.5) / 4 - (sy + 0.5) / SUB) / radius;
        if (COVERS[shape](u, v)) hits++;
      }
      mask[y * size + x] = Math.round((hits / 16) * opacity * 256);
    }
    all.push(mask);
  }
  return { reach, size, all };
}

class MapView {
  constructor(figure, map, app) {
    Object.assign(this, { figure, map, app, hero: figure.dataset.hero === "1" });
    const paper = figure.querySelector(".paper");
    this.base = document.createElement("canvas");
    this.over = document.createElement("canvas");
    this.over.className = "over";
    this.over.tabIndex = 0;
    this.over.setAttribute("role", "application");
    this.over.setAttribute("aria-label",
      `Map by ${map.name}. Arrow keys move from row to row, Enter holds a row, Escape lets go.`);
    paper.append(this.base, this.over);
    this.listen();
  }

  get points() { return this.app.points(this.map); } // when they are drawn: nobody may ask for this map

  /* Fits the canvas to its box; true if anything changed. */
  measure() {
    const box = this.over.getBoundingClientRect();
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
    if (!width || !height || (width === this.width && height === this.height)) return false;
    Object.assign(this, { width, height, ratio });
    for (const canvas of [this.base, this.over]) { canvas.width = width; canvas.height = height; }
    const pad = 16 * ratio;
    const scale = Math.min((width - 2 * pad) / (this.map.width || 1e-9), (height - 2 * pad) / (this.map.height || 1e-9));
    this.scale = Math.min(scale, width - 2 * pad);
    this.left = (width - this.scale * this.map.width) / 2;
    this.top = (height - this.scale * this.map.height) / 2;
    const n = this.app.n, { points } = this;
    this.px = new Float32Array(n);
    this.py = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      this.px[i] = this.left + (points[2 * i] / 65535) * this.scale;
      this.py[i] = this.top + (this.map.height - points[2 * i + 1] / 65535) * this.scale;
    }
    this.measureOthers();
    this.image = this.base.getContext("2d").createImageData(width, height);
    // A few large points or many small ones: the ink on the paper stays about the same.
    const radius = Math.max(1.0, Math.min(4.2, 2.6 * Math.pow(3000 / this.points.length, 0.28) * Math.sqrt(box.width / 400)));
    const opacity = Math.max(0.55, Math.min(0.92, 1.1 - 0.11 * Math.log10(n)));
    this.radius = radius * ratio;
    this.stamps = Object.fromEntries(Object.keys(COVERS).map((s) => [s, stamps(s, this.radius, opacity)]));
    this.kept = {};
    return true;
  }

  /* Rows of a map of all rows that the other maps do not have: they are seen, and nothing more. */
  measureOthers() {
    const n = this.app.n, { points } = this, count = points.length / 2 - n;
    this.others = count ? { px: new Float32Array(count), py: new Float32Array(count), order: Uint32Array.from({ length: count }, (_, i) => i) } : null;
    for (let i = 0; i < count; i++) {
      this.others.px[i] = this.left + (points[2 * (n + i)] / 65535) * this.scale;
      this.others.py[i] = this.top + (this.map.height - points[2 * (n + i) + 1] / 65535) * this.scale;
    }
  }

  /* Below all others: in the colours of their classes, or grey. */
  stampOthers(coloring, faded) {
    if (!this.others) return;
    const { px, py } = this, classes = this.app.color === "class" && this.map.others;
    const codes = classes ? this.app.once("others", () => bytes(this.map.others)) : new Uint8Array(this.others.px.length);
    const grey = this.app.tables([this.app.rgb(this.app.css("--grey"))]);
    const { colors, faded: pale, shapes } = classes ? coloring : { ...grey, shapes: ["disc"] };
    Object.assign(this, { px: this.others.px, py: this.others.py });
    this.stamp(this.others.order, null, { codes, shapes }, faded || !classes ? pale : colors);
    Object.assign(this, { px, py });
  }

  /* Stamps the rows of `order` for which `which` holds (all without it). */
  stamp(order, which, coloring, colors) {
    const data = this.image.data, { width, height, px, py } = this, { codes, shapes } = coloring;
    const kinds = shapes.map((shape) => this.stamps[shape]);
    for (let o = 0; o < order.length; o++) {
      const i = order[o];
      if (which && !which[i]) continue;
      const code = codes[i], kind = kinds[code % kinds.length], { reach, size } = kind;
      const x = px[i], y = py[i], fx = Math.floor(x), fy = Math.floor(y);
      const mask = kind.all[Math.min(SUB - 1, Math.floor((y - fy) * SUB)) * SUB + Math.min(SUB - 1, Math.floor((x - fx) * SUB))];
      const r = colors[3 * code], g = colors[3 * code + 1], b = colors[3 * code + 2];
      const x0 = fx - reach, y0 = fy - reach;
      if (x0 < 0 || y0 < 0 || x0 + size > width || y0 + size > height) continue; // the padding prevents it
      for (let v = 0; v < size; v++) {
        let p = 4 * ((y0 + v) * width + x0), m = v * size;
        for (let u = 0; u < size; u++, p += 4, m++) {
          const a = mask[m];
          if (a === 0) continue;
          data[p] += ((r - data[p]) * a) >> 8;
          data[p + 1] += ((g - data[p + 1]) * a) >> 8;
          data[p + 2] += ((b - data[p + 2]) * a) >> 8;
        }
      }
    }
  }

  /* A picture of all rows, kept until the colours, the theme or the size change. */
  picture(coloring, faded) {
    const key = `${coloring.key}|${this.app.theme}|${faded}`;
    if (!this.kept[key]) {
      this.painted = (this.painted || 0) + 1;
      const [r, g, b] = this.app.paper, data = this.image.data;
      for (let p = 0; p < data.length; p += 4) { data[p] = r; data[p + 1] = g; data[p + 2] = b; data[p + 3] = 255; }
      this.stampOthers(coloring, faded);
      this.stamp(coloring.order, null, coloring, faded ? coloring.faded : coloring.colors);
      this.kept = { ...(faded ? this.kept : {}), [key]: data.slice() };
      const keys = Object.keys(this.kept); // two pictures are enough: all rows, and all of them faded
      if (keys.length > 2) delete this.kept[keys[0]];
    }
    this.image.data.set(this.kept[key]);
  }

  /* Whether it is in the window, or nearly. */
  isSeen() {
    const { top, bottom } = this.figure.getBoundingClientRect();
    return bottom > -40 && top < innerHeight + 40;
  }

  draw() {
    this.stale = false;
    if (!this.over.offsetParent) return; // hidden
    this.measure();
    if (!this.width) return;
    const { app } = this, coloring = app.coloring(this.map);
    this.picture(coloring, app.nSelected > 0);
    if (app.nSelected > 0) this.stamp(coloring.order, app.selected, coloring, coloring.colors);
    this.base.getContext("2d").putImageData(this.image, 0, 0);
    this.app.tell("points", this, this.base.getContext("2d"));
    this.drawOver();
  }

  // ---- above the points ----

  drawOver() {
    if (!this.width) return;
    const context = this.over.getContext("2d");
    context.clearRect(0, 0, this.width, this.height);
    if (this.map.run === this.app.top && this.app.nSelected === 0) this.drawRegions(context);
    if (this.app.color === "class" && this.app.nSelected === 0) this.drawNames(context);
    this.app.tell("over", this, context);
    if (this.app.active >= 0) this.drawNeighbors(context, this.app.active);
    if (this.brush) this.drawBrush(context);
  }

  drawRegions(context) {
    const at = (x, y) => [this.left + x * this.scale, this.top + (this.map.height - y) * this.scale];
    this.app.data.regions.forEach(({ outline, ringed, rows }, number) => {
      if (ringed) this.drawRings(context, this.app.once(`fact${number}`, () => longs(rows)));
      if (!outline.length) return;
      context.beginPath();
      let highest = [0, Infinity];
      for (let s = 0; s < outline.length; s += 4) {
        const a = at(outline[s], outline[s + 1]), b = at(outline[s + 2], outline[s + 3]);
        if (a[1] < highest[1]) highest = a;
        // The second outline is dotted: every other segment.
        if (number % 2 === 1 && (s / 4) % 2 === 1) continue;
        context.moveTo(...a);
        context.lineTo(...b);
      }
      context.lineCap = "round";
      context.strokeStyle = this.app.css("--sheet");
      context.lineWidth = 4 * this.ratio;
      context.stroke();
      context.strokeStyle = this.app.css("--damage");
      context.lineWidth = (this.hero ? 1.8 : 1.3) * this.ratio;
      context.stroke();
      if (this.hero) this.drawPin(context, highest, number + 1);
    });
  }

  /* Rows that are wrong without crowding anywhere. */
  drawRings(context, rows) {
    context.strokeStyle = this.app.css("--damage");
    context.lineWidth = 1.5 * this.ratio;
    for (const row of rows) {
      context.beginPath();
      context.arc(this.px[row], this.py[row], this.radius + 2.5 * this.ratio, 0, 7);
      context.stroke();
    }
  }

  drawPin(context, [x, y], number) {
    const r = 9 * this.ratio;
    x = Math.max(r, Math.min(this.width - r, x));
    y = Math.max(r, Math.min(this.height - r, y));
    context.fillStyle = this.app.css("--damage");
    context.beginPath();
    context.arc(x, y, r, 0, 7);
    context.fill();
    context.fillStyle = this.app.css("--paper");
    context.font = `700 ${11 * this.ratio}px ${this.app.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(number), x, y + 0.5 * this.ratio);
  }

  /* Names of the classes at the median of their rows, where there is room: colour is never the only key. */
  drawNames(context) {
    const { classes } = this.app;
    if (!classes || classes.names.length > MOST_LABELS) return;
    const taken = [];
    context.font = `600 ${(this.hero ? 13 : 11.5) * this.ratio}px ${this.app.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    this.app.medians(this.map).forEach((median, code) => {
      if (!median) return;
      const name = classes.names[code].length > 14 ? classes.names[code].slice(0, 13) + "…" : classes.names[code];
      const half = context.measureText(name).width / 2 + 3 * this.ratio, tall = 8 * this.ratio;
      const x = Math.max(half, Math.min(this.width - half, this.left + median[0] * this.scale)); // whole, not cut off
      let y = this.top + (this.map.height - median[1]) * this.scale;
      if (median[2] * this.scale < half) y += (y > 4 * tall ? -1 : 1) * (tall + this.radius + 3 * this.ratio); // it would hide them
      if (taken.some((t) => Math.abs(t[0] - x) < t[2] + half && Math.abs(t[1] - y) < 2 * tall)) return;
      taken.push([x, y, half]);
      context.strokeStyle = this.app.css("--sheet");
      context.lineWidth = 4 * this.ratio;
      context.strokeText(name, x, y);
      context.fillStyle = this.app.css("--ink");
      context.fillText(name, x, y);
    });
  }

  drawNeighbors(context, row) {
    const { neighbors, k } = this.app, { px, py, ratio } = this;
    const ring = (i, radius, color, width) => {
      context.beginPath();
      context.arc(px[i], py[i], radius, 0, 7);
      context.strokeStyle = color;
      context.lineWidth = width * ratio;
      context.stroke();
    };
    const ink = this.app.css("--ink");
    for (const [color, width, alpha] of [[this.app.css("--sheet"), 3, 0.7], [ink, 1, 0.8]]) {
      context.globalAlpha = alpha;
      context.strokeStyle = color;
      context.lineWidth = width * ratio;
      context.beginPath();
      for (let j = 0; j < k; j++) {
        const other = neighbors[row * k + j];
        context.moveTo(px[row], py[row]);
        context.lineTo(px[other], py[other]);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
    for (let j = 0; j < k; j++) ring(neighbors[row * k + j], this.radius + 1.5 * ratio, ink, 1.2);
    ring(row, this.radius + 4 * ratio, this.app.css("--sheet"), 5);
    ring(row, this.radius + 4 * ratio, this.app.css("--accent"), 2.5);
  }

  drawBrush(context) {
    const [x0, y0, x1, y1] = this.brush;
    context.fillStyle = context.strokeStyle = this.app.css("--accent");
    context.beginPath();
    if (this.lasso) this.lasso.forEach((point, i) => (i ? context.lineTo(...point) : context.moveTo(...point)));
    else context.rect(x0, y0, x1 - x0, y1 - y0);
    context.closePath();
    context.globalAlpha = 0.1;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = this.ratio;
    context.stroke();
  }

  // ---- pointer and keys ----

  nearest(x, y) {
    const reach = (CROSSHAIR_REACH * this.ratio) ** 2;
    let best = -1, least = reach;
    for (let i = 0; i < this.px.length; i++) {
      const dx = this.px[i] - x, dy = this.py[i] - y, d = dx * dx + dy * dy;
      if (d < least) { least = d; best = i; }
    }
    return best;
  }

  /* The rows inside the brush: a box, or the outline that was drawn with Alt held. */
  within() {
    const corners = this.lasso || [this.brush.slice(0, 2), this.brush.slice(2)];
    const xs = corners.map(([x]) => x), ys = corners.map(([, y]) => y);
    const left = Math.min(...xs), right = Math.max(...xs), top = Math.min(...ys), bottom = Math.max(...ys);
    const found = new Uint8Array(this.px.length);
    for (let i = 0; i < found.length; i++) {
      const x = this.px[i], y = this.py[i];
      if (x >= left && x <= right && y >= top && y <= bottom && (!this.lasso || this.encloses(x, y))) found[i] = 1;
    }
    return found;
  }

  /* Whether a ray from the point crosses the outline an odd number of times. */
  encloses(x, y) {
    let inside = false;
    for (let i = 0, j = this.lasso.length - 1; i < this.lasso.length; j = i++) {
      const [x1, y1] = this.lasso[i], [x2, y2] = this.lasso[j];
      if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) inside = !inside;
    }
    return inside;
  }

  listen() {
    const at = (event) => {
      const box = this.over.getBoundingClientRect();
      return [(event.clientX - box.left) * this.ratio, (event.clientY - box.top) * this.ratio];
    };
    let start = null, before = null;
    this.over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = at(event);
      this.lasso = event.altKey ? [start] : null;
      before = event.shiftKey && this.app.nSelected ? this.app.selected.slice() : null;
      this.over.setPointerCapture(event.pointerId);
    });
    this.over.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      const far = start && Math.hypot(x - start[0], y - start[1]) > CLICK_REACH * this.ratio;
      if (this.brush || far) {
        this.brush = [...start, x, y];
        if (this.lasso) this.lasso.push([x, y]);
        this.app.hover(-1);
        this.app.brushed(this, before);
      } else if (!start) {
        this.app.hover(this.nearest(x, y), this, event.clientX, event.clientY);
      }
    });
    const finish = (event) => {
      if (this.brush) { this.app.settle(); this.brush = null; this.drawOver(); this.app.tell("settle"); }
      else if (start) {
        const row = this.nearest(...at(event));
        if (row < 0) this.app.clear(); else this.app.pin(row);
      }
      start = null;
    };
    this.over.addEventListener("pointerup", finish);
    this.over.addEventListener("pointercancel", () => { this.brush = start = null; this.drawOver(); });
    this.over.addEventListener("pointerleave", () => { if (!start) this.app.hover(-1); });
    this.over.addEventListener("keydown", (event) => this.key(event));
    this.over.addEventListener("blur", () => this.app.hover(-1));
  }

  key(event) {
    const toward = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const row = this.app.hovered;
    if (event.key === "Enter" && row >= 0) this.app.pin(row);
    if (!toward) return;
    event.preventDefault();
    let best = -1, least = Infinity;
    for (let i = 0; i < this.px.length; i++) {
      if (row < 0) { // the first key finds the row nearest to the middle
        const d = Math.hypot(this.px[i] - this.width / 2, this.py[i] - this.height / 2);
        if (d < least) { least = d; best = i; }
        continue;
      }
      const dx = this.px[i] - this.px[row], dy = this.py[i] - this.py[row];
      const along = dx * toward[0] + dy * toward[1], aside = Math.abs(dx * toward[1]) + Math.abs(dy * toward[0]);
      if (along <= 0.01 || aside > 2 * along) continue;
      const d = along + 2 * aside;
      if (d < least) { least = d; best = i; }
    }
    if (best < 0) return;
    const box = this.over.getBoundingClientRect();
    this.app.hover(best, this, box.left + this.px[best] / this.ratio, box.top + this.py[best] / this.ratio);
  }
}
