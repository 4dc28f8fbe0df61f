/* Temperature and length: what Lemma 2.1 leaves to the leader of a row. */

import { Chart } from "./chart.js";
import {
  entropyFloor,
  minItemsToDisperse,
  sharpWeightBounds,
  softmax,
  weightBounds,
} from "./formulas.js";
import { Panel, power, say } from "./panel.js";

const LONGEST = 20;
const SIZES = Array.from({ length: 4 * LONGEST - 3 }, (_, i) => 2 ** (1 + i / 4));

/* The row in which the leader is alone at the top. */
const leader = (spread, others, temperature) => softmax([spread], 1 / temperature, others);

class Temperature extends Panel {
  setUp() {
    const x = {
      label: "number of items n",
      min: 2,
      max: 2 ** LONGEST,
      log: true,
      ticks: [10, 1000, 1e5],
      format: n => power(Math.round(Math.log10(n))),
    };
    this.weights = this.addChart(
      new Chart({
        x,
        y: {
          label: "weight",
          min: 1e-8,
          max: 10,
          log: true,
          ticks: [1e-6, 1e-4, 1e-2, 1],
          format: w => (w === 1 ? "1" : power(Math.round(Math.log10(w)))),
        },
      }),
      "How much one item can have",
    );
    this.entropies = this.addChart(
      new Chart({ x, y: { label: "entropy (nats)", min: 0, max: 14, ticks: [0, 4, 8, 12] } }),
      "How far the row has dispersed",
    );
    const slider = (name, options) => this.addSlider(name, options);
    this.spread = slider("spread", { label: "spread δ", min: 0, max: 12, step: 0.1, value: 5 });
    this.theta = slider("temperature", { label: "temperature θ", min: 0.2, max: 3, step: 0.05, value: 1 });
    this.size = slider("items", {
      label: "items n",
      min: 1,
      max: LONGEST,
      step: 1,
      value: 8,
      show: k => (2 ** k).toLocaleString("en"),
    });
  }

  update() {
    for (const slider of [this.spread, this.theta, this.size]) slider.refresh();
    const [spread, theta, n] = [this.spread.value, this.theta.value, 2 ** this.size.value];
    const [lower, upper] = weightBounds(spread, n, theta);
    const [least, most] = sharpWeightBounds(spread, n, theta);
    const { entropy } = leader(spread, n - 1, theta);
    const floor = entropyFloor(spread, n, theta);
    const half = minItemsToDisperse(spread, 0.5, theta);
    this.#drawWeights(spread, theta, n, least, most);
    this.#drawEntropies(spread, theta, n, entropy);
    this.showNumbers([
      ["largest", "largest weight possible", most],
      ["smallest", "smallest weight possible", least],
      ["upper", "upper bound of Lemma 2.1", upper],
      ["lower", "lower bound of Lemma 2.1", lower],
      ["entropy", "entropy of the leader's row", entropy],
      ["floor", "smallest entropy possible", floor],
      ["uniform", "entropy of equal weights", Math.log(n)],
      ["half", "no item has half from n =", half],
    ]);
    this.tell(
      `With spread ${say(spread)} and temperature ${say(theta)}, one of ` +
        `${n.toLocaleString("en")} items can have at most ${say(most)} of the weight. ` +
        `From ${say(half)} items on none can have half.`,
    );
  }

  #drawWeights(spread, theta, n, least, most) {
    const chart = this.weights;
    const curve = (bounds, end) => SIZES.map(m => [m, bounds(spread, m, theta)[end]]);
    const [lemma, attained] = [weightBounds, sharpWeightBounds];
    chart.begin(
      `Weight against the number of items: the largest possible is ${say(most)} and the ` +
        `smallest ${say(least)} at n = ${n}, inside the band of Lemma 2.1.`,
    );
    chart.area([...curve(lemma, 1), ...curve(lemma, 0).reverse()], "bound");
    chart.line(curve(attained, 1), "softmax");
    chart.line(curve(attained, 0), "softmax thin");
    chart.dot(n, most, "softmax");
    chart.dot(n, least, "softmax", 4);
    const end = { dx: -4, anchor: "end" };
    chart.words("largest possible", 2 ** LONGEST, 10, "softmax", { ...end, dy: 16 });
    chart.words("band of Lemma 2.1", 2 ** LONGEST, 10, "bound", { ...end, dy: 34 });
    chart.words("smallest", 3, 1e-8, "softmax", { dy: -10 });
  }

  #drawEntropies(spread, theta, n, entropy) {
    const chart = this.entropies;
    const curve = value => SIZES.map(m => [m, value(m)]);
    chart.begin(
      `Entropy against the number of items: the leader's row has ${say(entropy)} nats at ` +
        `n = ${n}, between the smallest possible and log n.`,
    );
    chart.line(curve(Math.log), "dashed");
    chart.line(curve(m => entropyFloor(spread, Math.round(m), theta)), "bound");
    chart.line(curve(m => leader(spread, m - 1, theta).entropy), "softmax");
    chart.dot(n, entropy, "softmax");
    chart.words("log n", 40, Math.log(40), "", { dx: -6, dy: -8, anchor: "end" });
    const end = { dx: -4, anchor: "end" };
    chart.words("leader alone", 2 ** LONGEST, 0, "softmax", { ...end, dy: -26 });
    chart.words("smallest possible", 2 ** LONGEST, 0, "bound", { ...end, dy: -8 });
  }
}

customElements.define("sharp-lab-temperature", Temperature);
