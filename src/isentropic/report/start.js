/* The last script: all others are known by now. */

function* opening() {
  const data = JSON.parse(document.getElementById("data").textContent);
  yield;
  window.isentropic = new App(data);
  yield;
  yield* window.isentropic.starting();
}

inSlices(opening());
