/* Curves, pictures of ranks and distances, parameter curves: drawn as SVG, coloured by the style sheet; and the
   words and elements that all scripts share. */

/* A, B, ... Z, AA, AB, ... */
const letter = ({ run }) => (run >= 26 ? String.fromCharCode(64 + Math.floor(run / 26)) : "") + String.fromCharCode(65 + (run % 26));
const counted = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const percent = (share) => `${Math.round(100 * share)}%`;

function element(name, attributes = {}, text) {
  const svg = ["svg", "g", "line", "path", "text", "circle", "rect", "title"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const written = (value, digits = 3) => value.toFixed(digits).replace("-", "−");

/* The letter of a map, as it stands before its name everywhere. */
function letterTag(map, app) {
  return element("b", { class: `letter${map.run === app.data.shown ? " chosen" : ""}`, "aria-hidden": "true" }, letter(map));
}

/* Round steps: 1, 2 or 5 times a power of ten, about `count` of them. */
function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
  const out = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9; t += step) out.push(Math.abs(t) < 1e-12 ? 0 : t);
  return { out, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function frame(width, height, yTicks, y, digits, left, right, bottom) {
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const t of yTicks) {
    svg.append(element("line", { class: "grid", x1: left, x2: width - right, y1: y(t), y2: y(t) }));
    svg.append(element("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end" }, written(t, digits)));
  }
  svg.append(element("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  return svg;
}

class Curves {
  constructor(box, app) {
    Object.assign(this, { box, app, maps: app.data.maps, k: Math.max(1, app.data.k), charts: [], focused: -1 });
    const ks = this.maps.length ? this.maps[0].curves.k : [];
    this.kMax = ks.length ? ks[ks.length - 1] : 1;
    for (const { name, title, chance } of app.data.curves) {
      const cell = element("div"), head = element("h4", {}, title), plot = element("div"), list = element("ol", { class: "ranking" });
      head.append(element("span"));
      cell.append(head, plot, list);
      box.append(cell);
      this.charts.push({ name, title, chance, plot, list });
      plot.style.height = "230px";
    }
    // A list is made anew under the pointer: what was there never hears that it is left. So whatever is entered tells.
    document.addEventListener("pointerover", ({ target }) => this.focus(Number(target.closest(".ranking li")?.dataset.map ?? -1)));
  }

  *drawing() {
    const width = this.charts[0]?.plot.clientWidth; // once: all are as wide, and each question lays the page out anew
    for (const chart of this.charts) { this.drawChart(chart, width); yield; }
    this.read(this.k);
  }

  drawChart(chart, width) {
    const height = 230, left = 34, right = 8, top = 10, bottom = 34;
    // Beyond n / 2 trustworthiness and continuity are divided by less and less, and fall off the chart.
    const all = this.maps.flatMap(({ curves }) => curves[chart.name].values.filter((v, i) => v !== null && curves.k[i] <= this.kMax / 2));
    let low = Math.min(...all, chart.chance ? 0 : 0.95), high = Math.max(...all, chart.chance ? 0.1 : 1);
    const { out, digits } = ticks(low, high, 5);
    low = Math.min(low, out[0]);
    const x = (k) => left + (Math.log(k) / Math.log(Math.max(2, this.kMax))) * (width - left - right);
    const y = (v) => top + ((high - v) / (high - low || 1)) * (height - top - bottom);
    const svg = frame(width, height, out, y, digits, left, right, bottom);
    svg.setAttribute("aria-label", `${chart.title} against the number of neighbours k, one curve for each map`);
    for (let k = 1; k <= this.kMax; k *= 10) for (let m = 1; m < 10 && k * m <= this.kMax; m++) {
      svg.append(element("line", { class: "axis", x1: x(k * m), x2: x(k * m), y1: height - bottom, y2: height - bottom + (m === 1 ? 5 : 3) }));
      if (m === 1) svg.append(element("text", { x: x(k), y: height - bottom + 17, "text-anchor": "middle" }, k.toLocaleString("en")));
    }
    svg.append(element("text", { x: width - right, y: height - bottom + 31, "text-anchor": "end" }, "k, size of the neighbourhood"));
    const lines = element("svg", { x: left, y: 0, width: width - left - right, height: height - bottom, viewBox: `${left} 0 ${width - left - right} ${height - bottom}`, class: "clipped" });
    svg.append(lines);
    Object.assign(chart, { x, y, svg, lines, paths: [], tags: [], at: -1 });
    this.app.runOrder.forEach((index) => this.drawCurve(chart, index));
    this.drawTags(chart, x, y);
    chart.cursor = element("line", { class: "cursor", y1: top, y2: height - bottom });
    svg.append(chart.cursor);
    svg.addEventListener("pointermove", (event) => {
      const share = (event.clientX - svg.getBoundingClientRect().left - left) / (width - left - right);
      this.read(Math.exp(Math.max(0, Math.min(1, share)) * Math.log(this.kMax)));
    });
    svg.addEventListener("pointerleave", () => this.read(this.app.data.k));
    chart.plot.replaceChildren(svg);
  }

  drawCurve(chart, index) {
    const { curves, run } = this.maps[index], { values, low, high } = curves[chart.name], { x, y, lines } = chart;
    const kind = run === this.app.data.shown ? " chosen" : "";
    const along = (list, backwards) => {
      const at = list.map((v, i) => (v === null ? "" : `${x(curves.k[i]).toFixed(1)} ${y(v).toFixed(1)}`)).filter(Boolean);
      return (backwards ? at.reverse() : at).join("L");
    };
    if (low) lines.append(element("path", { class: `band${kind}`, d: `M${along(low)}L${along(high, true)}Z` }));
    const path = element("path", { class: `curve${kind}`, d: `M${along(values)}` });
    chart.paths[index] = path;
    lines.append(path);
  }

  /* Each curve carries its letter, at the k where the curves lie farthest apart; crowded letters step aside. */
  drawTags(chart, x, y) {
    const { k } = this.maps[0]?.curves ?? { k: [] };
    const value = (index, i) => this.maps[index].curves[chart.name].values[i];
    let at = 0, widest = -1;
    for (let i = 0; i < k.length; i++) {
      const sorted = this.maps.map((_, index) => value(index, i)).filter((v) => v !== null && v !== undefined).map(y).sort((a, b) => a - b);
      if (sorted.length < this.maps.length || x(k[i]) < x(1) + 20 || k[i] > this.kMax / 3) continue;
      let room = 0;
      for (let j = 1; j < sorted.length; j++) room += Math.min(14, sorted[j] - sorted[j - 1]);
      if (room > widest + 1) { widest = room; at = i; }
    }
    const order = this.maps.map((_, index) => index).filter((index) => value(index, at) != null).sort((a, b) => value(a, at) - value(b, at));
    const placed = [];
    for (const index of order) {
      const free = (i) => value(index, i) != null && placed.every(([px, py]) => Math.hypot(px - x(k[i]), py - y(value(index, i))) > 13);
      const nearby = k.map((_, i) => i).filter((i) => k[i] <= this.kMax / 3 && x(k[i]) > x(1) + 8).sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
      const i = nearby.find(free) ?? at;
      placed.push([x(k[i]), y(value(index, i))]);
      const chosen = this.maps[index].run === this.app.data.shown;
      const tag = element("text", { class: `tagged${chosen ? " chosen" : ""}`, x: x(k[i]), y: y(value(index, i)) + 3.5 }, letter(this.maps[index]));
      chart.tags[index] = tag;
      chart.svg.append(tag);
    }
  }

  /* All maps at this k, the best first. */
  read(k) {
    const ks = this.maps[0]?.curves.k ?? [], far = (value) => Math.abs(Math.log(value / k));
    const at = ks.reduce((best, value, i) => (far(value) < far(ks[best]) ? i : best), 0);
    if (!ks.length) return;
    for (const chart of this.charts) {
      if (!chart.cursor || chart.at === at) continue; // not drawn yet, or read already
      chart.at = at;
      for (const end of ["x1", "x2"]) chart.cursor.setAttribute(end, chart.x(ks[at]));
      const rows = this.maps.map((map, index) => ({ map, index, value: map.curves[chart.name].values[at] }))
        .filter((row) => row.value != null).sort((a, b) => b.value - a.value);
      chart.list.replaceChildren(...rows.map((row) => this.ranked(row)));
      chart.list.setAttribute("aria-label", `${chart.title} at k = ${ks[at]}`);
      chart.plot.previousSibling.lastChild.textContent = `at k = ${ks[at].toLocaleString("en")}`;
    }
  }

  ranked({ map, index, value }) {
    const item = element("li", { class: map.run === this.app.data.shown ? "chosen" : "", "data-map": index }), name = element("span");
    name.append(letterTag(map, this.app), map.name);
    item.append(name, element("span", {}, written(value)));
    return item;
  }

  focus(index) {
    if (index === this.focused) return;
    this.focused = index;
    for (const chart of this.charts) for (const parts of [chart.paths, chart.tags])
      parts.forEach((part, i) => part.classList.toggle("focus", i === index));
  }
}

/* Counts as shades between two colours of the style sheet. */
function drawPicture(canvas, { size, cells }, app) {
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d"), image = context.createImageData(size, size);
  const low = app.rgb(app.css("--picture-low")), high = app.rgb(app.css("--picture-high")), shades = bytes(cells);
  shades.forEach((shade, i) => {
    const t = (shade - 55) / 200;
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = low[c] + t * (high[c] - low[c]);
    image.data[4 * i + 3] = shade ? 255 : 0;
  });
  context.putImageData(image, 0, 0);
}

function headed(map, app) {
  const cell = element("div"), head = element("h4");
  head.append(letterTag(map, app), map.name);
  cell.append(head);
  return cell;
}

/* Ranks and distances of every map, in one go when all are there: the page is laid out once. */
function* drawingPictures(box, app) {
  const cells = [];
  for (const map of app.data.maps) if (map.coranking) {
    const cell = headed(map, app), pair = element("div", { class: "pair" });
    pair.append(pictureOf(map, "coranking", "Co-ranking matrix", "rank in map →", "", app), pictureOf(map, "shepard", "Shepard diagram", "distance in data →", String(map.shepard.given), app));
    cell.append(pair);
    cells.push(cell);
    yield;
  }
  box.replaceChildren(...cells);
}

function pictureOf(map, kind, title, left, right, app) {
  const part = element("div"), picture = element("div", { class: "picture" }), under = element("div", { class: "under" });
  const canvas = element("canvas", { role: "img", "aria-label": `${title} of ${map.name}` }), { slope } = map[kind];
  drawPicture(canvas, map[kind], app);
  picture.append(canvas);
  if (slope) { // the line on which map and data have one distance
    const svg = element("svg", { viewBox: "0 0 1 1", width: "100%", height: "100%", preserveAspectRatio: "none" }), end = Math.min(1, 1 / slope);
    svg.append(element("line", { x1: 0, y1: 1, x2: end, y2: 1 - end * slope }));
    picture.append(svg);
  }
  under.append(element("span", {}, left), element("span", {}, right));
  part.append(picture, under);
  return part;
}

function* drawingTrials(box, app) {
  const tuned = app.data.maps.filter((map) => map.trials);
  document.getElementById("tried").hidden = tuned.length === 0;
  const cells = tuned.map((map) => headed(map, app));
  box.replaceChildren(...cells);
  const width = cells[0]?.clientWidth || 390; // of all
  for (const [i, cell] of cells.entries()) { cell.append(trialChart(tuned[i].trials, width)); yield; }
}

function trialChart({ points, axis, log, criterion }, width) {
  const height = 170, left = 42, right = 14, top = 16, bottom = 34;
  const scores = points.filter((p) => p.score !== null).map((p) => p.score);
  let low = Math.min(...scores), high = Math.max(...scores);
  const margin = (high - low || Math.abs(high) || 1) * 0.1;
  low -= margin; high += margin;
  const { out, digits } = ticks(low, high, 4);
  const place = log ? Math.log : (v) => v;
  const first = place(points[0].x), span = place(points[points.length - 1].x) - first || 1;
  const x = (v) => left + 10 + ((place(v) - first) / span) * (width - left - right - 20);
  const y = (v) => top + ((high - v) / (high - low)) * (height - top - bottom);
  const svg = frame(width, height, scores.length ? out : [], y, digits, left, right, bottom);
  svg.setAttribute("aria-label", `${criterion} against ${axis}`);
  svg.append(element("text", { x: 0, y: 8 }, criterion));
  svg.append(element("text", { x: width - right, y: height - 3, "text-anchor": "end" }, axis));
  const good = points.filter((p) => p.score !== null);
  svg.append(element("path", { class: "curve", d: good.length ? "M" + good.map((p) => `${x(p.x)} ${y(p.score)}`).join("L") : "" }));
  let edge = -Infinity; // of the last label: crowded ones are left out
  for (const p of points) {
    const cx = x(p.x), cy = p.score === null ? height - bottom - 7 : y(p.score);
    const mark = p.score === null
      ? element("path", { class: "cross", d: `M${cx - 4} ${cy - 4}l8 8m0 -8l-8 8` })
      : element("circle", { class: `trial${p.chosen ? " chosen" : ""}`, cx, cy, r: p.chosen ? 5 : 3.5 });
    const title = element("title", {}, `${p.label}: ${p.score === null ? p.reason : written(p.score, 4)}`);
    mark.append(title);
    svg.append(mark);
    const label = p.label.includes("=") && axis !== "what was tried" ? p.label.split("=")[1] : "";
    if (label && (p.chosen || cx - edge > 8 + 6 * label.length)) {
      svg.append(element("text", { x: cx, y: height - bottom + 16, "text-anchor": "middle", class: p.chosen ? "accent" : "" }, label));
      edge = cx + 3 * label.length;
    }
  }
  return svg;
}
