/* Adaptive temperature: drag the logits of eight keys among many equal ones. */

import { Chart } from "./chart.js";
import { inverseTemperature, polynomial, softmax } from "./formulas.js";
import { Panel, say } from "./panel.js";

const COUNT = 8;
const TOP = 8;
const ENTROPIES = Array.from({ length: 181 }, (_, i) => i / 20);

class Adaptive extends Panel {
  setUp() {
    const x = {
      label: "key",
      min: 0.5,
      max: COUNT + 0.5,
      ticks: Array.from({ length: COUNT }, (_, i) => i + 1),
    };
    this.logits = this.addChart(
      new Chart({ x, y: { label: "logit", min: 0, max: TOP, ticks: [0, 2, 4, 6, 8] }, height: 220 }),
      "Drag the logits",
    );
    this.weights = this.addChart(
      new Chart({ x, y: { label: "weight", min: 0, max: 1, ticks: [0, 0.25, 0.5, 0.75, 1] }, height: 220 }),
      "What softmax and the rule make of them",
    );
    this.rule = this.addChart(
      new Chart({
        x: { label: "entropy H (nats)", min: 0, max: 9, ticks: [0, 2, 4, 6, 8] },
        y: { label: "inverse temperature β", min: 0.5, max: 2.5, ticks: [0.5, 1, 1.5, 2, 2.5] },
        height: 260,
      }),
      "The rule, and where this row is",
    );
    const values = this.data.columns.logit;
    this.others = this.addSlider("others", {
      label: "further keys at 0",
      min: 0,
      max: 48,
      step: 1,
      value: this.data.attributes.others_step,
      show: step => this.numberOfOthers(step).toLocaleString("en"),
    });
    this.sliders = values.map((value, i) =>
      this.addSlider(`logit-${i + 1}`, { label: `logit of key ${i + 1}`, min: 0, max: TOP, step: 0.1, value }),
    );
    let grasped = 0;
    this.logits.onDrag(({ x: place, y }, isStart) => {
      if (isStart) grasped = Math.min(Math.max(Math.round(place), 1), COUNT) - 1;
      this.sliders[grasped].value = y;
      this.update();
    });
  }

  /* Equal steps of the slider are equal factors: twelve make a factor of ten. */
  numberOfOthers(step) {
    return step === 0 ? 0 : Math.round(10 ** (step / 12));
  }

  update() {
    for (const slider of [this.others, ...this.sliders]) slider.refresh();
    const logits = this.sliders.map(slider => slider.value);
    const others = this.numberOfOthers(this.others.value);
    const plain = softmax(logits, 1, others);
    const beta = inverseTemperature(plain.entropy);
    const adaptive = softmax(logits, beta, others);
    const [before, after] = [plain, adaptive].map(row => Math.max(...row.weights));
    this.#drawLogits(logits);
    this.#drawWeights(plain.weights, adaptive.weights);
    this.#drawRule(plain.entropy, beta);
    this.showNumbers([
      ["entropy", "entropy H of softmax", plain.entropy],
      ["beta", "inverse temperature β(H)", beta],
      ["top", "top weight, softmax", before],
      ["adaptive-top", "top weight, adaptive", after],
      ["adaptive-entropy", "entropy, adaptive", adaptive.entropy],
      ["keys", "keys", COUNT + others],
    ]);
    const acts =
      beta > 1
        ? `so the rule multiplies the logits by ${say(beta)}: the top weight goes from ${say(before)} to ${say(after)}.`
        : `and there the rule does nothing: the top weight stays ${say(before)}.`;
    this.tell(`The entropy of ${say(COUNT + others)} keys is ${say(plain.entropy)} nats, ${acts}`);
  }

  #drawLogits(logits) {
    this.logits.begin(`Logits of eight keys: ${logits.map(say).join(", ")}.`);
    logits.forEach((value, i) => {
      this.logits.bar(i + 0.75, i + 1.25, value, "faint");
      this.logits.dot(i + 1, value, "", 7);
    });
  }

  #drawWeights(plain, adaptive) {
    this.weights.begin("Weights of the eight keys, softmax at the left and adaptive at the right of each.");
    plain.forEach((value, i) => this.weights.bar(i + 0.68, i + 0.98, value, "softmax solid"));
    adaptive.forEach((value, i) => this.weights.bar(i + 1.02, i + 1.32, value, "adaptive solid"));
    const [right, top] = [COUNT + 0.5, 1];
    this.weights.words("softmax", right, top, "softmax", { dx: -76, dy: 6, anchor: "end" });
    this.weights.words("adaptive", right, top, "adaptive", { dx: -4, dy: 6, anchor: "end" });
  }

  #drawRule(entropy, beta) {
    const chart = this.rule;
    chart.begin(
      `Inverse temperature against entropy: 1 up to 0.85, at most 2.42, and 1 again from ` +
        `5.94 on, the cliff; this row is at ${say(entropy)} with ${say(beta)}.`,
    );
    const inside = ENTROPIES.map(h => [h, polynomial(h)]).filter(([, b]) => b >= 0.5);
    chart.line(inside, "dashed");
    chart.line(ENTROPIES.map(h => [h, inverseTemperature(h)]), "adaptive");
    chart.words("the cliff", 5.9445, 1, "adaptive", { dx: 8, dy: -10 });
    chart.dot(entropy, beta, "adaptive");
  }
}

customElements.define("sharp-lab-adaptive", Adaptive);
