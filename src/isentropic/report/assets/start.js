/* The last script: all others are known by now. */

function* opening() {
  const data = JSON.parse(document.getElementById("data").textContent);
  yield;
  window.isentropic = new App(data);
  yield;
  yield* window.isentropic.starting();
}

const openingSteps = opening(), stopOpening = inSlices(openingSteps);

/* Whoever prints at once, as `chromium --print-to-pdf` does, comes before the page has opened. */
addEventListener("beforeprint", () => {
  stopOpening();
  atOnce(openingSteps);
  window.isentropic.beginPrint();
});
addEventListener("afterprint", () => window.isentropic.endPrint());
