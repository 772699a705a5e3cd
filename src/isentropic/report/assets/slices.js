"use strict";
/* Long work in slices, so that the page answers and draws frames in between. */

const SLICE = 8; // milliseconds of work before others have their turn

/* Runs a generator slice by slice, the first one after `wait` milliseconds; gives a way to stop it. */
function inSlices(steps, done = () => {}, wait = 0) {
  const slice = () => {
    for (const end = performance.now() + SLICE; performance.now() < end;) {
      const { value, done: over } = steps.next();
      if (over) { done(value); return; }
    }
    timer = setTimeout(slice);
  };
  let timer = setTimeout(slice, wait);
  return () => clearTimeout(timer);
}

/* The same without a pause, for who cannot wait: a printer. */
function atOnce(steps) {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}
