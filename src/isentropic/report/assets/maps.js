/* Maps on the page: their points, what is drawn above them, and what the pointer and the keys do. */

const CROSSHAIR_REACH = 14; // css pixels from the pointer in which a row is found
const CLICK_REACH = 4; // css pixels that a click may wander before it is a brush
const PRINT_RATIO = 3; // pixels of a printed map to one of the style sheet: 288 to an inch

/* Whether a ray from the point crosses the outline an odd number of times. */
function encloses(xs, ys, x, y) {
  let inside = false;
  for (let i = 0, j = xs.length - 1; i < xs.length; j = i++)
    if (ys[i] > y !== ys[j] > y && x < xs[i] + ((y - ys[i]) / (ys[j] - ys[i])) * (xs[j] - xs[i])) inside = !inside;
  return inside;
}

class MapView extends Sheet {
  constructor(figure, map, app) {
    super(app, map);
    Object.assign(this, { figure, hero: figure.dataset.hero === "1", stale: true, drawnAt: 0 });
    this.base = element("canvas");
    this.over = element("canvas", {
      class: "over", tabindex: 0, role: "application",
      "aria-label": `Map by ${map.name}. Arrow keys move from row to row, Enter holds a row, Escape lets go.`,
    });
    figure.querySelector(".paper").append(this.base, this.over);
    this.listen();
  }

  /* Fits the canvas to its box. */
  measure() {
    const box = this.over.getBoundingClientRect(), ratio = this.app.printing ? PRINT_RATIO : Math.min(2, window.devicePixelRatio || 1);
    const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
    if (!width || !height || (width === this.width && height === this.height)) return;
    for (const canvas of [this.base, this.over]) { canvas.width = width; canvas.height = height; }
    this.fit(width, height, ratio);
  }

  /* Another height, as a longer legend leaves it: drawn anew where it has been drawn. */
  resized() {
    const box = this.over.getBoundingClientRect();
    if (this.width && !this.stale && box.height && Math.abs(box.height * this.ratio - this.height) > 1) this.draw();
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
    this.drawnAt = performance.now();
    this.paint();
    this.base.getContext("2d").putImageData(this.image, 0, 0);
    this.app.tell("points", this, this.base.getContext("2d"));
    this.drawOver();
  }

  // ---- above the points ----

  drawOver() {
    if (!this.width) return;
    const context = this.over.getContext("2d");
    // A canvas is printed by repeating what was drawn on it, and what is cleared then takes the points below with it.
    if (this.app.printing) this.over.width = this.width; else context.clearRect(0, 0, this.width, this.height);
    this.pins = [];
    if (this.map.run === this.app.top && this.app.nSelected === 0) this.drawRegions(context);
    if (this.app.nSelected === 0) this.drawNames(context);
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
      context.arc(this.px[row], this.py[row], this.radius * this.app.growth(row) + 2.5 * this.ratio, 0, 7);
      context.stroke();
    }
  }

  drawPin(context, [x, y], number) {
    const r = 9 * this.ratio;
    x = Math.max(r, Math.min(this.width - r, x));
    y = Math.max(r, Math.min(this.height - r, y));
    this.pins.push({ x, y, half: r, tall: r });
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

  /* Names of few rows, or of classes, or else of groups: colour is never the only key. */
  drawNames(context) {
    const { app, map } = this, side = Math.min(this.width, this.height) / this.ratio;
    if (app.hasNamedRows) { new Labels(this, context, this.hero ? 12.5 : 10.5).putRows(app.names); return; }
    const named = app.namedLevels(map);
    if (!named || (named.groups && !this.hero)) return; // names of groups are long
    const size = this.hero ? Math.max(13, Math.min(named.groups ? 15 : 22, side / 32)) : 11, labels = new Labels(this, context, size);
    const places = app.once(`${named.key}${map.run}`, () => densestPlaces(app.points(map), named.codes, named.names.length));
    if (named.groups) labels.putGroups(named.names, places, named.codes); else labels.putLevels(named.names, places);
  }

  /* Where a place of the map, in steps of its coordinates, is in pixels. */
  placeOf({ x, y }) { return [this.left + (x / 65535) * this.scale, this.top + (this.map.height - y / 65535) * this.scale]; }

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
    const corners = this.lasso ?? [this.brush.slice(0, 2), this.brush.slice(2)], found = new Uint8Array(this.app.n);
    const [xs, ys] = [0, 1].map((c) => Float32Array.from(corners, (corner) => corner[c])); // read for every row
    const left = Math.min(...xs), right = Math.max(...xs), top = Math.min(...ys), bottom = Math.max(...ys);
    for (let i = 0; i < found.length; i++) {
      const x = this.px[i], y = this.py[i];
      if (x >= left && x <= right && y >= top && y <= bottom && (!this.lasso || encloses(xs, ys, x, y))) found[i] = 1;
    }
    return found;
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
