/* The last script: all others are known by now. */

const isentropic = (window.isentropic = new App(JSON.parse(document.getElementById("data").textContent)));
inSlices(isentropic.starting());
