/* Any panel as a file: SVG of real shapes, and PNG of the same, on white, with its title and legend. Nothing is
   fetched or sent: the file is made here, and the browser saves it. */

const SAVE_WIDTH = 720, SAVE_PAD = 24; // of a map, in pixels of the SVG
const MOST_CIRCLES = 20_000; // points that are shapes in an SVG; more are one picture inside it
const MOST_SMOOTH = 2_000; // points that are shapes in a PNG; more are stamped, as on the page
const SAVE_SCALE = 2; // pixels of a PNG to one of the SVG
const SAVE_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "text-anchor", "paint-order"];

/* Text of SVG: XML has no control characters, no halves of characters, and two code points less. */
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
const wellFormed = (text) => text.replace(UNWRITABLE, "\ufffd");
const escaped = (text) => wellFormed(String(text)).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const fileName = (...parts) => parts.join("-").replace(/[^\p{L}\p{N}._]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 100) || "panel";

const asFile = (canvas) => new Promise((done) => canvas.toBlob(done, "image/png"));

/* A file as an address that holds all of it. */
function asAddress(blob) {
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(blob);
  });
}

class Saver {
  constructor(app) {
    this.app = app;
    this.context = document.createElement("canvas").getContext("2d");
    this.mostCircles = MOST_CIRCLES;
    for (const view of app.views) this.offer(view.figure.querySelector(".paper"), view.map.name, (kind) => this.mapPanel(view, kind));
    app.on("draw", () => this.offerCharts());
  }

  offerCharts() {
    const { app } = this, named = (box, kind, make) => [...document.querySelectorAll(`#${box} > div`)].forEach((cell, i) => this.offer(cell.querySelector("h4"), kind(i), (kind) => make(cell, i, kind)));
    named("curves", (i) => app.curves.charts[i].title, (cell, i) => this.curvePanel(cell, app.curves.charts[i]));
    const pictured = app.data.maps.filter((map) => map.coranking), tuned = app.data.maps.filter((map) => map.trials);
    named("pictures", (i) => `${pictured[i].name}-ranks-and-distances`, (cell, i, kind) => this.picturePanel(pictured[i], kind));
    named("trials", (i) => `${tuned[i].name}-parameters`, (cell, i) => this.trialPanel(cell, tuned[i]));
  }

  /* Two small buttons in a heading, once. */
  offer(head, name, make) {
    if (!head || head.querySelector(".save")) return;
    const box = element("span", { class: "save screen" });
    for (const kind of ["PNG", "SVG"]) {
      const button = element("button", { type: "button", title: `Save as ${kind}`, "aria-label": `Save ${name} as ${kind}` }, kind);
      button.addEventListener("click", () => this.save(kind, fileName(this.app.data.table, name), make));
      box.append(button);
    }
    head.insertBefore(box, head.tagName === "H4" && head.lastElementChild?.tagName === "SPAN" ? head.lastElementChild : null);
  }

  /* A panel is its size and its parts from below: pictures (a canvas and its place), text of SVG, or generators of it. */
  async save(kind, name, make) {
    const { width, height, parts } = this.inLight(() => make(kind));
    const blob = await (kind === "SVG" ? this.svg(['<rect width="100%" height="100%" fill="#ffffff"/>', ...parts], width, height) : this.png(parts, width, height));
    const link = element("a", { href: URL.createObjectURL(blob), download: `${name}.${kind.toLowerCase()}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /* Paper is white, whatever the screen is. */
  inLight(make) {
    const { theme } = this.app;
    if (theme === "light") return make();
    try { this.app.setTheme("light"); return make(); } finally { this.app.setTheme(theme); }
  }

  async svg(parts, width, height) {
    const out = [];
    for (const part of parts) out.push(part.canvas ? await this.image(part) : typeof part === "string" ? part : await new Promise((done) => inSlices(part, done)));
    const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(SAVE_FONT)}">`;
    return new Blob([head, ...out, "</svg>\n"], { type: "image/svg+xml" });
  }

  async image({ canvas, x, y, width, height }) {
    const address = await asAddress(await asFile(canvas));
    return `<image x="${x}" y="${y}" width="${width}" height="${height}" ${"href"}="${address}"/>`;
  }

  async png(parts, width, height) {
    const sheet = element("canvas", { width: width * SAVE_SCALE, height: height * SAVE_SCALE }), context = sheet.getContext("2d"), image = new Image();
    image.src = await asAddress(await this.svg(parts.filter((part) => !part.canvas), width, height));
    await image.decode();
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, sheet.width, sheet.height);
    context.imageSmoothingEnabled = false; // cells stay cells
    for (const part of parts) if (part.canvas) context.drawImage(part.canvas, ...[part.x, part.y, part.width, part.height].map((length) => length * SAVE_SCALE));
    context.drawImage(image, 0, 0, sheet.width, sheet.height);
    return asFile(sheet);
  }

  // ---- parts ----

  text(x, y, label, size = 12, more = "") { return `<text x="${x}" y="${y}" font-size="${size}" fill="#1f2024" ${more}>${escaped(label)}</text>`; }
  title(label, under) { return this.text(SAVE_PAD, 30, label, 17, 'font-weight="600"') + this.text(SAVE_PAD, 48, under, 12, 'fill-opacity="0.65"'); }
  wide(label, size = 12) { this.context.font = `${size}px ${SAVE_FONT}`; return this.context.measureText(label).width; }
  hex(table, code) { return `#${[0, 1, 2].map((c) => table[3 * code + c].toString(16).padStart(2, "0")).join("")}`; }

  mark(shape, x, y, r, color) {
    const at = (v) => v.toFixed(2);
    if (shape === "disc") return `<circle cx="${at(x)}" cy="${at(y)}" r="${at(r)}" fill="${color}"/>`;
    if (shape === "ring") return `<circle cx="${at(x)}" cy="${at(y)}" r="${at(0.88 * r)}" fill="none" stroke="${color}" stroke-width="${at(0.5 * r)}"/>`;
    if (shape === "cross") return `<path d="M${at(x - 1.15 * r)} ${at(y)}h${at(2.3 * r)}M${at(x)} ${at(y - 1.15 * r)}v${at(2.3 * r)}" stroke="${color}" stroke-width="${at(0.72 * r)}"/>`;
    return `<rect x="${at(x - 0.8 * r)}" y="${at(y - 0.8 * r)}" width="${at(1.6 * r)}" height="${at(1.6 * r)}" fill="none" stroke="${color}" stroke-width="${at(0.5 * r)}"/>`;
  }

  /* The legend of the page, below a panel; its height with it. */
  legend(map, top) {
    const { app } = this;
    if (!app.way.levels) return this.rampLegend(app.way, top);
    let [x, y, out] = [SAVE_PAD, top + 10, ""];
    const { colors, shapes } = app.coloring(map), put = (label, symbol) => {
      const width = (symbol ? 26 : 10) + this.wide(label);
      if (x + width > SAVE_WIDTH - SAVE_PAD && x > SAVE_PAD) { x = SAVE_PAD; y += 20; }
      out += (symbol ? symbol(x + 5, y) : "") + this.text(x + (symbol ? 15 : 0), y + 4, label);
      x += width;
    };
    for (const title of app.way.legend()) put(title);
    app.way.levels().forEach(({ name }, place) => put(name, (cx, cy) => this.mark(shapes[place], cx, cy, 5, this.hex(colors, place))));
    return [out, y - top + 18];
  }

  rampLegend(way, top) {
    const [title, low, high, middle] = way.legend(), stops = this.app.stops(way), x = SAVE_PAD + this.wide(title) + 12, from = x + this.wide(low) + 6;
    const shades = stops.map((hex, i) => `<stop offset="${i / (stops.length - 1)}" stop-color="${hex}"/>`).join("");
    return [`<defs><linearGradient id="ramp">${shades}</linearGradient></defs>` + this.text(SAVE_PAD, top + 14, title) + this.text(x, top + 14, low)
      + `<rect x="${from}" y="${top + 4}" width="150" height="11" fill="url(#ramp)"/>` + this.text(from + 156, top + 14, high) + (middle === undefined ? "" : this.text(from + 75, top + 27, middle, 10, 'text-anchor="middle"')), middle === undefined ? 26 : 36];
  }

  // ---- panels ----

  mapPanel({ map }, kind) {
    const { app } = this, side = SAVE_WIDTH - 2 * SAVE_PAD, top = 66, points = app.points(map), count = points.length / 2;
    const scale = Math.min(side / (map.width || 1e-9), side / (map.height || 1e-9), side), tall = Math.max(40, scale * map.height);
    const at = (x, y) => [SAVE_PAD + (side - scale * map.width) / 2 + x * scale, top + (map.height - y) * scale];
    const radius = Math.max(1, Math.min(4.2, 2.6 * Math.pow(1500 / app.n, 0.28) * Math.sqrt(side / 400)));
    // a map of all rows may draw more of them than have colours and names
    const few = count === app.n && count <= (kind === "PNG" ? MOST_SMOOTH : this.mostCircles);
    const parts = [few ? this.shapes(app.coloring(map), app.nSelected ? app.selected : null, points, at, radius) : this.stamped(map, side, tall, top)];
    if (map.run === app.top && app.nSelected === 0) parts.push(this.outlines(at));
    if (app.pinned >= 0) { const [x, y] = at(points[2 * app.pinned] / 65535, points[2 * app.pinned + 1] / 65535); parts.push(`<circle cx="${x}" cy="${y}" r="${radius + 4}" fill="none" stroke="${app.css("--accent")}" stroke-width="2.5"/>`); }
    const [legend, room] = this.legend(map, top + tall + 14), rows = counted(count, "row") + (few || kind === "PNG" ? "" : ", drawn as a picture");
    parts.push(this.title(`${app.data.table}: ${map.name}`, rows + (app.nSelected ? `, ${app.nSelected.toLocaleString("en")} selected` : "")), legend);
    return { width: SAVE_WIDTH, height: Math.ceil(top + tall + 14 + room + 10), parts };
  }

  /* All points as shapes, those that are selected above the others. */
  *shapes({ codes, order, colors, faded, shapes }, selected, points, at, radius) {
    const out = ['<g fill-opacity="0.85" stroke-opacity="0.85">'];
    for (const chosen of selected ? [0, 1] : [1]) for (const [rank, i] of order.entries()) {
      if (rank % 256 === 0) yield;
      if (selected && selected[i] !== chosen) continue;
      const code = codes[i];
      out.push(this.mark(shapes[code % shapes.length], ...at(points[2 * i] / 65535, points[2 * i + 1] / 65535), radius * this.app.growth(i), this.hex(chosen ? colors : faded, code)));
    }
    return `${out.join("")}</g>`;
  }

  /* The points as they are stamped on the page, as large as the file shows them. */
  stamped(map, side, tall, top) {
    const pad = 16, width = side + 2 * pad, height = Math.round(tall) + 2 * pad; // a sheet has a margin
    const sheet = new Sheet(this.app, map), canvas = element("canvas", { width: SAVE_SCALE * width, height: SAVE_SCALE * height });
    sheet.fit(canvas.width, canvas.height, SAVE_SCALE);
    sheet.paint();
    canvas.getContext("2d").putImageData(sheet.image, 0, 0);
    return { canvas, x: SAVE_PAD - pad, y: top - pad, width, height };
  }

  outlines(at) {
    return this.app.data.regions.map(({ outline }, number) => {
      if (!outline.length) return "";
      let d = "";
      for (let s = 0; s < outline.length; s += 4) d += `M${at(outline[s], outline[s + 1]).map((v) => v.toFixed(1))}L${at(outline[s + 2], outline[s + 3]).map((v) => v.toFixed(1))}`;
      return `<path d="${d}" fill="none" stroke="${this.app.css("--damage")}" stroke-width="1.8" stroke-linecap="round" ${number % 2 ? 'stroke-dasharray="2 4"' : ""}/>`;
    }).join("");
  }

  /* A chart of the page with its styles written into it. */
  styled(svg) {
    const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
    from.forEach((one, i) => {
      const style = getComputedStyle(one);
      for (const name of STYLED) if (style.getPropertyValue(name)) to[i].setAttribute(name, style.getPropertyValue(name));
      to[i].removeAttribute("class");
    });
    copy.querySelectorAll("[stroke-dasharray]").forEach((one) => { if (one.getAttribute("stroke-dasharray") === "none") one.removeAttribute("stroke-dasharray"); });
    return copy;
  }

  placed(svg, x, y) {
    svg.setAttribute("x", x);
    svg.setAttribute("y", y);
    return wellFormed(new XMLSerializer().serializeToString(svg));
  }

  curvePanel(cell, chart) {
    const { app } = this, svg = this.styled(chart.svg), width = chart.plot.clientWidth, height = 230;
    svg.querySelector('line[stroke-dasharray]')?.remove(); // where the pointer was
    let y = 72 + height + 12;
    const lines = app.data.maps.map((map) => this.text(SAVE_PAD, (y += 18), `${letter(map)}  ${map.name}`, 12, map.run === app.data.shown ? 'font-weight="600"' : ""));
    return { width: width + 2 * SAVE_PAD, height: y + 20, parts: [this.title(chart.title, app.data.table), this.placed(svg, SAVE_PAD, 66), ...lines] };
  }

  trialPanel(cell, map) {
    const svg = this.styled(cell.querySelector("svg")), width = Number(svg.getAttribute("width"));
    return { width: width + 2 * SAVE_PAD, height: 66 + 170 + 20, parts: [this.title(`${map.name}: parameters that were tried`, this.app.data.table), this.placed(svg, SAVE_PAD, 66)] };
  }

  picturePanel(map, kind) {
    const side = 300, gap = 28, top = 66, under = top + side + 18, parts = [];
    [["coranking", "Ranks: rank in map →"], ["shepard", `Distances: distance in data → ${map.shepard.given}`]].forEach(([name, label], i) => {
      const x = SAVE_PAD + i * (side + gap), picture = map[name];
      if (kind === "PNG") { const canvas = element("canvas"); drawPicture(canvas, picture, this.app); parts.push({ canvas, x, y: top, width: side, height: side }); }
      parts.push(`<g transform="translate(${x} ${top})" shape-rendering="crispEdges">${kind === "SVG" ? this.cells(picture, side) : ""}${this.lines(picture, side)}</g>`, this.text(x, under, label));
    });
    return { width: 2 * SAVE_PAD + 2 * side + gap, height: under + 18, parts: [this.title(`${map.name}: ranks and distances`, this.app.data.table), ...parts] };
  }

  cells({ size, cells }, side) {
    const [low, high] = ["--picture-low", "--picture-high"].map((name) => this.app.rgb(this.app.css(name))), step = side / size, out = [];
    bytes(cells).forEach((shade, i) => {
      if (!shade) return;
      const color = low.map((v, c) => Math.round(v + ((shade - 55) / 200) * (high[c] - v)));
      out.push(`<rect x="${((i % size) * step).toFixed(2)}" y="${(Math.floor(i / size) * step).toFixed(2)}" width="${step.toFixed(2)}" height="${step.toFixed(2)}" fill="${this.hex(color, 0)}"/>`);
    });
    return out.join("");
  }

  /* The frame of a picture, and the line of equal distances. */
  lines({ slope }, side) {
    const end = Math.min(1, 1 / slope), line = slope ? `<path d="M0 ${side}L${end * side} ${side * (1 - end * slope)}" stroke="${this.app.css("--damage")}" stroke-width="1.4" fill="none"/>` : "";
    return `<rect width="${side}" height="${side}" fill="none" stroke="#b9b8b3"/>${line}`;
  }
}

panels.push((app) => { app.saver = new Saver(app); });
