/* Phases of softmax attention: move a head through the plane, at a finite length. */

import { Chart } from "./chart.js";
import { interpolate, limitRisk, phase, retrievalThreshold } from "./formulas.js";
import { Panel, power, say } from "./panel.js";

const SOFT = Array.from({ length: 60 }, (_, i) => 0.35 + (i * (Math.SQRT2 - 0.35)) / 59);
const ALONG = Array.from({ length: 151 }, (_, i) => i / 50);

class Phases extends Panel {
  setUp() {
    this.tables = new Map();
    const { attributes, columns } = this.data;
    this.errors = attributes.interpolation_error;
    this.step = attributes.step;
    columns.exponent.forEach((exponent, i) => {
      for (const kind of ["risk", "best_risk"]) {
        const key = `${exponent} ${kind}`;
        if (!this.tables.has(key)) this.tables.set(key, []);
        const [rows, row] = [this.tables.get(key), Math.round(columns.root_signal[i] / this.step)];
        rows[row] ??= [];
        rows[row][Math.round(columns.sharpness[i] / this.step)] = columns[kind][i];
      }
    });
    const sharpness = { label: "sharpness b = β / √(log L)", min: 0, max: 3, ticks: [0, 1, 2, 3] };
    this.plane = this.addChart(
      new Chart({ x: sharpness, y: { label: "signal c = ν / log L", min: 0, max: 5, ticks: [0, 1, 2, 3, 4, 5] }, height: 340 }),
      "Drag the point",
    );
    this.profile = this.addChart(
      new Chart({ x: sharpness, y: { label: "risk", min: 0, max: 1.6, ticks: [0, 0.5, 1, 1.5] }, height: 240 }),
      "Risk of all heads at this signal",
    );
    this.sharpness = this.addSlider("sharpness", { label: "sharpness b", min: 0, max: 3, step: 0.01, value: 2.2 });
    this.signal = this.addSlider("signal", { label: "signal c", min: 0, max: 5, step: 0.01, value: 1 });
    const exponents = [...new Set(columns.exponent)];
    this.length = this.addChoice("length", {
      label: "length L",
      options: exponents.map(n => [n, power(n)]),
      value: exponents.at(-1),
    });
    this.readOut = this.addChoice("read-out", {
      label: "read-out",
      options: [
        ["fixed", "v = v*"],
        ["best", "best multiple of v*"],
      ],
      value: "fixed",
    });
    this.plane.onDrag(({ x, y }) => {
      this.sharpness.value = x;
      this.signal.value = y;
      this.update();
    });
  }

  risk(sharpness, signal) {
    const kind = this.readOut.value === "best" ? "best_risk" : "risk";
    const table = this.tables.get(`${this.length.value} ${kind}`);
    return interpolate(table, Math.sqrt(signal) / this.step, sharpness / this.step);
  }

  update() {
    for (const slider of [this.sharpness, this.signal]) slider.refresh();
    const [b, c, read] = [this.sharpness.value, this.signal.value, this.readOut.value];
    const [risk, limit, name] = [this.risk(b, c), limitRisk(b, c, read), phase(b, c)];
    const best = this.risk(Math.min(Math.sqrt(c), 3), c);
    const error = this.errors[this.length.value];
    this.#drawPlane(b, c, name);
    this.#drawProfile(b, c, risk);
    this.showNumbers([
      ["phase", "phase", name, name],
      ["risk", `risk at L = ${power(this.length.value)}`, risk, `${risk.toFixed(3)} ± ${say(error)}`],
      ["limit", "limit of the risk, L → ∞", limit],
      ["optimal", "risk at b = √c", best, `${best.toFixed(3)} ± ${say(error)}`],
    ]);
    this.tell(
      `Sharpness ${say(b)} and signal ${say(c)} lie in the ${name} phase. The risk is ` +
        `${risk.toFixed(3)} at ten to the ${this.length.value} tokens and tends to ${say(limit)}; ` +
        `predicting 0 costs 1.`,
    );
  }

  #drawPlane(b, c, name) {
    const chart = this.plane;
    const edge = SOFT.map(s => [s, retrievalThreshold(s)]);
    chart.begin(`The plane of sharpness and signal with its three phases; the point is at ${say(b)}, ${say(c)}: ${name}.`);
    chart.area([...edge, [3, 2], [3, 5], [SOFT[0], 5]], "softmax");
    chart.area([[0, 5], ...edge, [Math.SQRT2, 0], [0, 0]], "bound");
    chart.area([[Math.SQRT2, 2], [3, 2], [3, 0], [Math.SQRT2, 0]], "adaptive");
    chart.line(ALONG.filter(s => s * s <= 5).map(s => [s, s * s]), "dashed");
    chart.words("retrieval", 1.4, 4.4, "softmax", { anchor: "middle" });
    chart.words("dispersed", 0.5, 1.6, "bound", { anchor: "middle" });
    chart.words("glass", 2.6, 0.3, "adaptive", { anchor: "middle" });
    chart.words("b = √c", 2.1, 4.41, "", { dx: 10, dy: 4 });
    chart.dot(b, c, "", 8);
  }

  #drawProfile(b, c, risk) {
    const chart = this.profile;
    const read = this.readOut.value;
    chart.begin(`Risk against sharpness at signal ${say(c)}: exact at this length, and the limit.`);
    chart.line(ALONG.map(s => [s, limitRisk(s, c, read)]), "dashed");
    chart.line(ALONG.map(s => [s, this.risk(s, c)]), "softmax");
    chart.words("limit", 3, limitRisk(3, c, read), "", { dx: -2, dy: -8, anchor: "end" });
    chart.dot(b, risk, "softmax");
  }
}

customElements.define("sharp-lab-phases", Phases);
