/* Finite samples: the curves of the replica equations, and the heads trained on them. */

import { Chart } from "./chart.js";
import { Panel, say } from "./panel.js";

const ACTIVATIONS = ["softmax", "linear"];
const TASKS = [
  ["spiked 1", "spiked, signal 1"],
  ["spiked 2", "spiked, signal 2"],
  ["max", "max, infinite signal"],
];
const RIDGES = [
  ["best", "the best pair"],
  ["1", "1 and 1"],
  ["0.1", "0.1 and 0.1 (spiked, signal 2)"],
];

class FiniteSamples extends Panel {
  setUp() {
    const { columns } = this.data;
    const names = Object.keys(columns);
    this.rows = columns.task.map((_, i) => Object.fromEntries(names.map(name => [name, columns[name][i]])));
    this.chart = this.addChart(
      new Chart({
        x: { label: "samples per dimension α = N/D", min: 0, max: 20.5, ticks: [0, 5, 10, 15, 20] },
        y: { label: "test risk", min: 0, max: 1.6, ticks: [0, 0.5, 1, 1.5] },
        height: 340,
      }),
    );
    this.activation = this.addChoice("activation", {
      label: "activation",
      options: [["both", "both"], ...ACTIVATIONS.map(name => [name, name])],
      value: "both",
    });
    this.task = this.addChoice("task", { label: "task", options: TASKS, value: "spiked 2" });
    this.ridge = this.addChoice("ridge", { label: "ridges of key and value", options: RIDGES, value: "best" });
    this.place = this.addSlider("place", {
      label: "sample ratio α",
      min: 0,
      max: this.ratios.length - 1,
      step: 1,
      value: 5,
      show: i => say(this.ratios[i]),
    });
  }

  get ratios() {
    const found = this.#select({ kind: "theory", activation: "softmax" });
    return found.map(row => row.sample_ratio);
  }

  #select(wanted) {
    const all = { task: this.task.value, ridge: this.ridge.value, ...wanted };
    const fits = row => Object.entries(all).every(([name, value]) => row[name] === value);
    return this.rows.filter(fits).sort((one, two) => one.sample_ratio - two.sample_ratio);
  }

  update() {
    // These ridges were computed for one task only.
    if (this.task.value !== "spiked 2" && this.ridge.value === "0.1") this.ridge.value = "best";
    for (const option of this.ridge.options) option.disabled = option.value === "0.1" && this.task.value !== "spiked 2";
    this.place.input.max = this.ratios.length - 1;
    this.place.refresh();
    const ratio = this.ratios[this.place.value];
    const chosen = this.activation.value === "both" ? ACTIVATIONS : [this.activation.value];
    const here = chosen.map(name => this.#select({ kind: "theory", activation: name, sample_ratio: ratio })[0]);
    this.#draw(chosen, here, ratio);
    this.showNumbers(
      here.flatMap(row => [
        [`${row.activation}-risk`, `test risk, ${row.activation}`, row.test_risk, row.test_risk.toFixed(4)],
        [`${row.activation}-ridge-k`, `ridge of the key, ${row.activation}`, row.ridge_k],
        [`${row.activation}-ridge-v`, `ridge of the value, ${row.activation}`, row.ridge_v],
      ]),
    );
    const sentence = row =>
      `${row.activation} has test risk ${row.test_risk.toFixed(3)}` +
      (row.is_trusted ? "" : " (replica symmetry is not to be trusted here)");
    const samples = ratio === 1 ? "sample" : "samples";
    this.tell(`At ${say(ratio)} ${samples} per dimension ${here.map(sentence).join("; ")}. Predicting 0 costs 1.1.`);
  }

  #draw(chosen, here, ratio) {
    const chart = this.chart;
    const said = here.map(row => `${row.activation} ${say(row.test_risk)}`).join(", ");
    chart.begin(`Test risk against the sample ratio, with trained heads as dots; at ratio ${say(ratio)}: ${said}.`);
    chart.line([[ratio, 0], [ratio, 1.6]], "thin");
    for (const name of chosen) {
      const curve = this.#select({ kind: "theory", activation: name });
      const inside = curve.filter(row => row.test_risk <= 1.6);
      const pairs = rows => rows.map(row => [row.sample_ratio, row.test_risk]);
      chart.line(pairs(inside), `${name} pale`);
      chart.line(pairs(inside.filter(row => row.is_trusted)), name);
      for (const run of this.#select({ kind: "trained", activation: name }))
        if (run.test_risk <= 1.6) chart.dot(run.sample_ratio, run.test_risk, `${name} hollow`, 5);
      const last = inside.at(-1);
      chart.words(name, 20, last.test_risk, name, { dx: 0, dy: name === "softmax" ? 20 : -10, anchor: "end" });
    }
    for (const row of here)
      if (row.test_risk <= 1.6) chart.dot(ratio, row.test_risk, row.activation);
  }
}

customElements.define("sharp-lab-finite-samples", FiniteSamples);
