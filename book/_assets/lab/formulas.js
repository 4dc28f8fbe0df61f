/* The book's closed formulas, as in the library; tests hold one against the other. */

const expit = x => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const softplus = x => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/* attention.activations.softmax and attention.entropy.entropy of a row, with `others`
   further items at logit 0; the weight of one of these is `other`. */
export function softmax(logits, sharpness = 1, others = 0) {
  const top = Math.max(...logits, others > 0 ? 0 : -Infinity);
  const terms = logits.map(e => Math.exp(sharpness * (e - top)));
  const term = Math.exp(-sharpness * top);
  const total = terms.reduce((sum, x) => sum + x, others * term);
  const weights = terms.map(x => x / total);
  const other = term / total;
  const mean = weights.reduce(
    (sum, p, i) => sum + p * sharpness * (logits[i] - top),
    -others * other * sharpness * top,
  );
  return { weights, other, entropy: Math.log(total) - mean };
}

/* theory.dispersion.weight_bounds: Lemma 2.1. */
export function weightBounds(spread, count, temperature = 1) {
  const x = spread / temperature;
  return [Math.exp(-x - Math.log(count)), Math.exp(x - Math.log(count))];
}

/* theory.dispersion.sharp_weight_bounds: both attained. */
export function sharpWeightBounds(spread, count, temperature = 1) {
  const [x, others] = [spread / temperature, Math.log(count - 1)];
  return [expit(-x - others), expit(x - others)];
}

/* theory.dispersion.entropy_floor. */
export function entropyFloor(spread, count, temperature = 1) {
  const x = spread / temperature;
  const safe = Math.max(x, 1e-6);
  const rest = -Math.expm1(-safe);
  const share = Math.exp(Math.log(safe / rest - 1) - safe - Math.log(rest));
  const below = Math.floor(count * share);
  const candidates = [Math.max(below, 1), below + 1].map(k => Math.min(k, count));
  return Math.min(...candidates.map(k => twoLevelEntropy(x, count, k)));
}

function twoLevelEntropy(x, count, top) {
  const ratio = Math.log((count - top) / top) - x;
  return Math.log(top) + softplus(ratio) + x * expit(ratio);
}

/* theory.dispersion.min_items_to_disperse: no item can have `weight` from here on. */
export function minItemsToDisperse(spread, weight, temperature = 1) {
  return Math.floor(1 + (Math.exp(spread / temperature) * (1 - weight)) / weight) + 1;
}

/* attention.temperature.POLYNOMIAL, highest power first, and the rule made from it. */
export const POLYNOMIAL = [-0.037, 0.481, -2.3, 4.917, -1.791];

export function polynomial(entropy) {
  return POLYNOMIAL.reduce((value, coefficient) => value * entropy + coefficient, 0);
}

export function inverseTemperature(entropy) {
  return Math.max(polynomial(entropy), 1);
}

/* theory.single_location.phases.retrieval_threshold, phase and limit_risk. */
export function retrievalThreshold(sharpness) {
  if (sharpness === 0) return Infinity;
  return sharpness >= Math.SQRT2 ? 2 : (1 / sharpness + sharpness / 2) ** 2;
}

export function phase(sharpness, signal) {
  if (signal > retrievalThreshold(sharpness)) return "retrieval";
  return sharpness > Math.SQRT2 ? "glass" : "dispersed";
}

export function limitRisk(sharpness, signal, readOut = "fixed") {
  const found = phase(sharpness, signal);
  if (found === "retrieval") return 0;
  return found === "glass" && readOut === "fixed" ? 2 - Math.SQRT2 / sharpness : 1;
}

/* figures.lab.interpolate: a cubic through a table of rows, over equal steps from 0. */
export function interpolate(table, row, column) {
  const [i, across] = cubic(row, table.length);
  const [j, along] = cubic(column, table[0].length);
  let sum = 0;
  across.forEach((a, di) => along.forEach((b, dj) => (sum += a * b * table[i + di][j + dj])));
  return sum;
}

/* First of four neighbours and their weights (Lagrange), moved inwards at the ends. */
function cubic(place, count) {
  const first = Math.min(Math.max(Math.floor(place) - 1, 0), count - 4);
  const t = place - first;
  return [
    first,
    [
      ((t - 1) * (t - 2) * (t - 3)) / -6,
      (t * (t - 2) * (t - 3)) / 2,
      (t * (t - 1) * (t - 3)) / -2,
      (t * (t - 1) * (t - 2)) / 6,
    ],
  ];
}
