/* By which columns do these rows differ from the others? What `isentropic.explain` says, in the browser: the same
   halves of the rows, the same tests, the same sentences (tests/report holds one against the other). One half of the
   rows chooses the columns, the other half tests them, and what remains is corrected for their number by Holm. */

const FEWEST_ROWS = 10; // on either side: five in each half
const LEAST_VALUES = 5; // of a half
const CHOOSING = 0.05; // p, in the first half, of what the second half tests
const ALPHA = 0.01; // chance that any column is named that does not differ
const MISSED = 0.05; // chance of an interval to miss the truth,
const DEVIATIONS = 1.959963984540054; // and how wide that makes it
const EXACT_SHARES = 5000; // rows up to which shares are compared by Fisher's exact test
const WEAK = 40; // rows on one side below which all but large differences are missed
const EXACT_RANKS = 8; // rows on one side up to which ranks are, without ties

const SKEWED = 0.1; // of the colours: numbers whose middle half has less than that are coloured by rank
const FEWEST_RANKS = 10; // different values: fewer have their own colours anyway

class GivenColumn {
  constructor({ name, kind, n, codes, levels = null, values = "", dates = false, other = false, label = false }) {
    Object.assign(this, { name, n, levels, dates, other, explained: !other || label, missing: kind === "u1" ? 255 : 65535, packed: { kind, codes, values } });
  }

  /* For each row the rank of its value among those that occur, or the place of its level; `missing` without one. */
  get codes() { return (this.known ??= (this.packed.kind === "u1" ? bytes : words)(this.packed.codes)); }

  /* How often each code occurs, and last how often none. */
  get counts() {
    const found = new Uint32Array(this.n + 1);
    for (const code of this.codes) found[code === this.missing ? this.n : code]++;
    return found;
  }

  /* The number that a code stands for; between two that the page holds, along the line. */
  value(code) {
    this.numbers ??= new Float64Array(bytes(this.packed.values).buffer);
    const at = this.n > 1 ? (code / (this.n - 1)) * (this.numbers.length - 1) : 0, low = Math.floor(at), rest = at - low;
    return rest < 1e-9 ? this.numbers[low] : this.numbers[low] + rest * (this.numbers[low + 1] - this.numbers[low]);
  }

  /* How a code reads: a level, a day, a number with the digits that matter. */
  text(code, digits = 4) {
    if (code === this.missing) return "missing";
    if (this.levels) return this.levels[code];
    return this.dates ? dayText(this.value(code)) : String(Number(this.value(code).toPrecision(digits)));
  }

  /* The code at this share of the rows, in order. */
  codeAt(share) {
    const { counts } = this, known = this.codes.length - counts[this.n];
    let code = 0;
    for (let sum = counts[0]; sum <= share * (known - 1) && code < this.n - 1;) sum += counts[++code];
    return code;
  }

  /* Whether few values would have nearly all of the colours. */
  get skewed() {
    return (this.isSkewed ??= this.n > FEWEST_RANKS
      && this.value(this.codeAt(0.75)) - this.value(this.codeAt(0.25)) < SKEWED * (this.value(this.n - 1) - this.value(0)));
  }

  /* For each code a byte: from the lowest value to the highest, or by the share of rows below. */
  get shades() {
    if (this.shade) return this.shade;
    const { n, counts } = this, first = this.value(0), span = this.value(n - 1) - first || 1, known = this.codes.length - counts[n];
    let below = 0;
    const rank = (code) => { const at = (below + (counts[code] - 1) / 2) / Math.max(1, known - 1); below += counts[code]; return at; };
    return (this.shade = Uint8Array.from({ length: n }, (_, code) => Math.round(254 * Math.min(1, this.skewed ? rank(code) : (this.value(code) - first) / span))));
  }

  /* A byte for each row. */
  shaded(codes) { return Uint8Array.from(codes, (code) => (code === this.missing ? 255 : this.shades[code])); }
}

// ---- the halves ----

/* A number of 32 bits for each position, as even as chance: `_scattered` of Python. */
function scattered(row) {
  let x = row + 1;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/* For each row: 0 not asked about, 1 and 2 the halves of those inside, 3 and 4 those of the others. */
function sides(inside, outside) {
  const found = new Uint8Array(inside.length);
  for (const [flags, first] of [[inside, 1], [outside, 3]]) {
    const keys = new Float64Array(total(flags)); // the place in the low digits: rows that scatter alike keep their order
    for (let i = 0, at = 0; i < flags.length; i++) if (flags[i]) keys[at++] = scattered(i) * 1048576 + i;
    keys.sort().forEach((key, rank) => { found[key % 1048576] = first + (rank >= keys.length >> 1); });
  }
  return found;
}

/* How often each code occurs in the four parts. */
function tallied(column, side) {
  const counts = [1, 2, 3, 4].map(() => new Uint32Array(column.n)), totals = [0, 0, 0, 0], { codes, missing } = column;
  for (let i = 0; i < side.length; i++) {
    if (side[i] === 0 || codes[i] === missing) continue;
    counts[side[i] - 1][codes[i]]++;
    totals[side[i] - 1]++;
  }
  return { counts, totals };
}

// ---- numbers ----

/* AUC, p of Mann and Whitney, DeLong's interval and the medians, from counts of values in order. */
function comparedNumbers(a, n, b, m) {
  let U = 0, ties = 0, tied = false, below = 0;
  for (let k = 0; k < a.length; k++) {
    U += a[k] * (below + b[k] / 2);
    below += b[k];
    const t = a[k] + b[k];
    if (t > 1) { ties += t * t * t - t; tied = true; }
  }
  const auc = U / (n * m), constant = ties === (n + m) ** 3 - (n + m);
  const p = constant ? 1 : Math.min(n, m) <= EXACT_RANKS && !tied ? exactP(U, n, m) : normalP(U, n, m, ties);
  return { auc, p, ...areaInterval(a, n, b, m, auc) };
}

function areaInterval(a, n, b, m, auc) {
  if (Math.min(auc, 1 - auc) <= 0) { // no overlap: as far from it as the fewer rows could miss
    const missed = Math.min(0.5, -Math.log(MISSED / 2) / Math.min(n, m));
    return { low: Math.max(0, auc - missed), high: Math.min(1, auc + missed) };
  }
  let inner = 0, outer = 0, less = 0, below = 0;
  for (let k = 0; k < a.length; k++) {
    inner += a[k] * ((below + b[k] / 2) / m - auc) ** 2;
    outer += b[k] * (1 - (less + a[k] / 2) / n - auc) ** 2;
    less += a[k];
    below += b[k];
  }
  const error = Math.sqrt(inner / (n - 1) / n + outer / (m - 1) / m) / (auc * (1 - auc)), middle = Math.log(auc / (1 - auc));
  const [low, high] = [-1, 1].map((sign) => 1 / (1 + Math.exp(-(middle + sign * DEVIATIONS * error))));
  return { low, high };
}

function normalP(U, n, m, ties) {
  const all = n + m, spread = Math.sqrt(((n * m) / 12) * (all + 1 - ties / (all * (all - 1))));
  return Math.min(1, erfc((Math.max(U, n * m - U) - (n * m) / 2 - 0.5) / spread / Math.SQRT2));
}

/* Of all orders without ties, twice the share with a U as far out: coefficients of the Gaussian binomial. */
function exactP(U, n, m) {
  const last = n * m - Math.max(U, n * m - U), few = Math.min(n, m), ways = new Float64Array(last + 1);
  ways[0] = 1;
  let all = 1;
  for (let i = 1; i <= few; i++) {
    const over = Math.max(n, m) + i;
    for (let u = last; u >= over; u--) ways[u] -= ways[u - over];
    for (let u = i; u <= last; u++) ways[u] += ways[u - i];
    all *= over / i;
  }
  return Math.min(1, (2 * ways.reduce((sum, one) => sum + one, 0)) / all);
}

/* By the series, and where that cancels by the continued fraction. */
function erfc(x) {
  if (x < 2.5) {
    let term = x, sum = x;
    for (let k = 1; k < 80; k++) { term *= (-x * x) / k; sum += term / (2 * k + 1); }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  let below = 0;
  for (let k = 80; k > 0; k--) below = k / 2 / (x + below);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + below);
}

/* The value in the middle of counts in order. */
function medianOf(column, counts, total) {
  const at = (rank) => { let k = 0, sum = counts[0]; while (sum <= rank) sum += counts[++k]; return column.value(k); };
  return total % 2 ? at((total - 1) / 2) : (at(total / 2 - 1) + at(total / 2)) / 2;
}

// ---- levels ----

const logFactorials = [0, 0];
function logFactorial(n) {
  while (logFactorials.length <= n) logFactorials.push(logFactorials[logFactorials.length - 1] + Math.log(logFactorials.length));
  return logFactorials[n];
}

/* Whether a of n and b of m may be one share: Fisher's test, or of many rows Pearson's with Yates' correction. */
function shareP(a, n, b, m) {
  const all = n + m, having = a + b;
  if (having === 0 || having === all) return 1;
  if (all > EXACT_SHARES) {
    let sum = 0;
    for (const [seen, row, column] of [[a, n, having], [n - a, n, all - having], [b, m, having], [m - b, m, all - having]]) {
      const expected = (row * column) / all, off = Math.abs(seen - expected);
      sum += (off - Math.min(0.5, off)) ** 2 / expected;
    }
    return erfc(Math.sqrt(sum / 2));
  }
  const fixed = [n, m, having, all - having].reduce((sum, one) => sum + logFactorial(one), -logFactorial(all));
  const chance = (x) => Math.exp(fixed - logFactorial(x) - logFactorial(n - x) - logFactorial(having - x) - logFactorial(m - having + x));
  const own = chance(a) * (1 + 1e-9); // as likely as what was seen, or less
  let sum = 0;
  for (let x = Math.max(0, having - m); x <= Math.min(n, having); x++) { const one = chance(x); if (one <= own) sum += one; }
  return Math.min(1, sum);
}

function comparedShares(a, n, b, m) {
  const half = Math.min(a, b) === 0 ? 0.5 : 0; // half a row is added where a share is 0
  const lift = (a + half) / (n + half) / ((b + half) / (m + half));
  const width = DEVIATIONS * Math.sqrt(Math.max(0, 1 / (a + half) - 1 / (n + half) + 1 / (b + half) - 1 / (m + half)));
  return { lift, low: lift * Math.exp(-width), high: lift * Math.exp(width), auc: 0.5 + (a / n - b / m) / 2, p: shareP(a, n, b, m), inside: a / n, outside: b / m };
}

// ---- all columns ----

/* What differs between two selections (flags of rows). A generator: it lets go after every column, so that whoever
   runs it can draw a frame in between. */
function* explaining(columns, inside, outside) {
  const side = sides(inside, outside), numbers = [], levels = [], skipped = [];
  for (const column of columns) {
    const { counts, totals } = tallied(column, side);
    if (Math.min(...totals) < LEAST_VALUES) skipped.push(column.name);
    else if (column.levels) levels.push(...testedLevels(column, counts, totals));
    else numbers.push(...testedNumbers(column, counts, totals));
    yield;
  }
  const tested = [...numbers, ...levels];
  return {
    differences: keptDifferences(tested), n_rows: total(inside), n_against: total(outside), n_columns: columns.length,
    n_tested: tested.length, alpha: ALPHA, skipped,
  };
}

function testedNumbers(column, [a, a2, b, b2], [n, n2, m, m2]) {
  if (comparedNumbers(a, n, b, m).p > CHOOSING) return [];
  const found = comparedNumbers(a2, n2, b2, m2), inside = medianOf(column, a2, n2), outside = medianOf(column, b2, m2);
  return [{ column: column.name, level: "", lift: null, ...found, inside, outside, dates: column.dates }];
}

function testedLevels(column, [a, a2, b, b2], [n, n2, m, m2]) {
  return column.levels.flatMap((level, code) => (
    shareP(a[code], n, b[code], m) * column.levels.length > CHOOSING ? []
      : [{ column: column.name, level, ...comparedShares(a2[code], n2, b2[code], m2) }]));
}

/* Those that remain after Holm's correction, the strongest first. */
function keptDifferences(tested) {
  let greatest = 0;
  return [...tested].sort((a, b) => a.p - b.p)
    .map((one, rank) => ({ ...one, p: (greatest = Math.min(1, Math.max(greatest, one.p * (tested.length - rank)))) }))
    .filter((one) => one.p <= ALPHA)
    .sort((a, b) => Math.abs(b.auc - 0.5) - Math.abs(a.auc - 0.5));
}

// ---- sentences ----

/* Python's :.2f and :.4g: a tie goes to the even digit. */
function fixed(value, digits) {
  const long = value.toFixed(digits + 30), cut = long.length - 30, rest = long.slice(cut);
  const even = "02468".includes(long.slice(0, cut).replace(/\.$/, "").slice(-1));
  return /^50*$/.test(rest) && even ? long.slice(0, cut).replace(/\.$/, "") : value.toFixed(digits);
}

function general(value, digits = 4) {
  if (value === 0) return "0";
  let [mantissa, power] = value.toExponential(digits - 1).split("e");
  const long = Math.abs(value).toExponential(digits + 29).split("e")[0];
  if (/^50*$/.test(long.slice(digits + 1)) && "02468".includes(long[digits])) mantissa = (value < 0 ? "-" : "") + long.slice(0, digits + 1);
  const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power < -4 || power >= digits) return `${trimmed(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  return trimmed(Number(`${mantissa}e${power}`).toFixed(Math.max(0, digits - 1 - power)));
}

/* Four digits, or all before the point. */
function numberText(value) {
  const size = Math.abs(value);
  return size >= 1e4 && size < 1e12 ? fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, ",") : general(value);
}

function dayText(value) {
  if (!(value >= -719162 && value < 2932897)) return `day ${numberText(value)} from 1970`; // not in the years 1 to 9999
  return new Date(Math.floor(value) * 86400000).toISOString().slice(0, 10);
}

function differenceText({ column, level, auc, lift, low, high, inside, outside, dates }) {
  if (lift === null) {
    const terms = dates ? ["later", "earlier"] : ["higher", "lower"], format = dates ? dayText : numberText;
    return `${column} is ${terms[auc > 0.5 ? 0 : 1]}: AUC ${fixed(auc, 2)} (${fixed(low, 2)} to ${fixed(high, 2)}), median ${format(inside)} against ${format(outside)}.`;
  }
  const times = outside === 0 ? `at least ${fixed(low, 1)} times as frequent` : inside === 0 ? `at most ${fixed(high, 1)} times as frequent`
    : `${fixed(lift, 1)} times as frequent (${fixed(low, 1)} to ${fixed(high, 1)})`;
  return `${column}=${level} is ${times}: ${fixed(100 * inside, 0)}% against ${fixed(100 * outside, 0)}%.`;
}

function explanationLines({ differences, n_columns, n_rows, n_against, skipped }) {
  if (differences.length) return differences.map(differenceText);
  let few = skipped.length ? ` ${skipped.length} more ${skipped.length === 1 ? "has" : "have"} too few values to say.` : "";
  if (Math.min(n_rows, n_against) < WEAK) few += " So few rows tell large differences only.";
  return [`None of ${n_columns - skipped.length} columns tells these ${n_rows.toLocaleString("en")} rows from ${n_against.toLocaleString("en")} others beyond chance.${few}`];
}
