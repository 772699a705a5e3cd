/* The true-distance overlay: hold a row, and every point has the colour of its distance to it in the data. */

const OVERLAY_STEPS = 254; // of a stored distance, from 0 to the largest

/* Distances of one row to all in steps, from all pairs i < j, row after row: each half a step from the truth. */
function pairDistances(codes, n, row) {
  const steps = new Float32Array(n);
  for (let i = 0; i < row; i++) steps[i] = codes[(i * (2 * n - i - 1)) / 2 + row - i - 1];
  const start = (row * (2 * n - row - 1)) / 2 - row - 1;
  for (let j = row + 1; j < n; j++) steps[j] = codes[start + j];
  return { steps, error: 0.5 };
}

/* From distances to landmarks: the middle between the bounds that the triangle inequality gives through each of
   them, and how far the bounds are from it on average. */
function landmarkDistances(codes, n, row, count) {
  const low = new Uint8Array(n), high = new Uint16Array(n).fill(2 * OVERLAY_STEPS);
  for (let l = 0; l < count; l++) {
    const own = codes[l * n + row];
    for (let i = 0, at = l * n; i < n; i++, at++) {
      const other = codes[at], apart = own > other ? own - other : other - own, sum = own + other;
      if (apart > low[i]) low[i] = apart;
      if (sum < high[i]) high[i] = sum;
    }
  }
  const steps = new Float32Array(n);
  let width = 0;
  for (let i = 0; i < n; i++) {
    steps[i] = (low[i] + high[i]) / 2;
    width += (high[i] - low[i]) / 2;
  }
  steps[row] = 0;
  return { steps, error: width / n + 1 }; // two roundings of half a step
}

panels.push((app) => {
  const { overlay } = app.data;
  if (!overlay) return;
  const unit = overlay.top / OVERLAY_STEPS, short = (value) => String(Number(value.toPrecision(3)));
  const name = (row) => app.rowName(row);
  const stored = () => app.once("overlay", () => bytes(overlay.codes));
  const section = app.section("overlay", "True distances"), text = element("p", { class: "quiet" });
  const off = element("button", { type: "button" }, "Let go (Escape)");
  off.addEventListener("click", () => app.clear());
  section.append(text, off);
  section.hidden = true;
  let before = app.color;

  const look = (row) => {
    const { steps, error } = overlay.landmarks === null ? pairDistances(stored(), app.n, row) : landmarkDistances(stored(), app.n, row, overlay.landmarks);
    let most = 1;
    for (const step of steps) if (step > most) most = step;
    const codes = Uint8Array.from(steps, (step) => Math.min(OVERLAY_STEPS, Math.round((step * OVERLAY_STEPS) / most)));
    app.overlay = { row, steps, unit, error: error * unit };
    app.addColoring({
      value: "overlay", title: `distance to ${name(row)}`, group: "Held row", codes: () => codes,
      order: () => byCode(app.order, codes, (code) => 255 - code), // what is near lies on top
      legend: () => [`Distance to ${name(row)} in the data${overlay.landmarks === null ? "" : ", estimated"}:`, "0", short(most * unit)],
      tip: (other) => `distance to ${name(row)}: ${short(steps[other] * unit)} ± ${short(error * unit)}`,
    });
    text.textContent = overlay.landmarks === null
      ? `Every point has the colour of its ${overlay.metric} distance to ${name(row)} in the data, exact to ±\u00a0${short(error * unit)}.`
      : `Every point has the colour of its ${overlay.metric} distance to ${name(row)} in the data, estimated through ${overlay.landmarks} rows drawn as landmarks: the middle of two bounds, ±\u00a0${short(error * unit)} on average.`;
  };

  app.on("color", (value) => { if (value !== "overlay") before = value; });
  app.on("pin", (row) => {
    section.hidden = row < 0;
    if (row >= 0) { look(row); app.setColor("overlay"); return; }
    if (app.color === "overlay") app.setColor(app.ways.has(before) ? before : app.firstColor);
    app.overlay = null;
    app.dropColoring("overlay");
  });
});
