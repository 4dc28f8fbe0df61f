/* What all interactive figures share: they stand in for a picture, hold its data,
   have labelled controls and say their numbers in words. */

let count = 0;

function html(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/* Numbers as readers see them. */
export function say(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return scientific(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(size >= 1 ? 4 : 3)));
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

export function power(exponent) {
  return `10${[...String(exponent)].map(sign => RAISED[sign]).join("")}`;
}

function scientific(value) {
  const [digits, exponent] = value.toExponential(1).split("e");
  return `${digits} × ${power(Number(exponent))}`;
}

export class Panel extends HTMLElement {
  #controls = html("div", { className: "sharp-lab-controls" });
  #charts = html("div", { className: "sharp-lab-charts" });
  #numbers = html("dl", { className: "sharp-lab-numbers" });
  #words = html("p", { className: "sharp-lab-words" });
  #timer = 0;
  #width = 0;

  connectedCallback() {
    if (this.querySelector(".sharp-lab-live")) return;
    const still = html("div", { className: "sharp-lab-still" });
    still.append(...this.childNodes);
    this.#words.setAttribute("role", "status");
    const live = html("div", { className: "sharp-lab-live" });
    live.append(this.#charts, this.#controls, this.#numbers, this.#words);
    // The picture goes only once the panel is there in its place.
    this.setUp();
    this.append(still, live);
    this.classList.add("sharp-lab-is-live");
    new ResizeObserver(() => {
      if (this.#charts.clientWidth !== this.#width) this.redraw();
    }).observe(this.#charts);
    this.update();
  }

  /* The table behind the link of the figure: {attributes, columns}. */
  get data() {
    const link = this.closest("figure").querySelector("a[download]").href;
    const bytes = Uint8Array.from(atob(link.split(",")[1]), c => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  }

  addChart(chart, title) {
    const holder = html("div", { className: "sharp-lab-holder" });
    if (title) holder.append(html("p", { className: "sharp-lab-title", textContent: title }));
    const frame = html("div", {}, chart.element);
    holder.append(frame);
    this.#charts.append(holder);
    return chart;
  }

  /* A slider; `show` turns its number into what is read. */
  addSlider(name, { label, min, max, step, value, show = say }) {
    const input = html("input", { type: "range", min, max, step, value, name });
    const output = html("output");
    const refresh = () => {
      output.textContent = show(input.valueAsNumber);
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => this.update());
    this.#addControl(input, label, output);
    return {
      input,
      refresh,
      get value() {
        return input.valueAsNumber;
      },
      set value(number) {
        input.value = number;
      },
    };
  }

  /* A choice; options are pairs of value and words. */
  addChoice(name, { label, options, value }) {
    const input = html("select", { name });
    input.append(...options.map(([key, words]) => html("option", { value: key, textContent: words })));
    input.value = value;
    input.addEventListener("input", () => this.update());
    this.#addControl(input, label);
    return input;
  }

  #addControl(input, label, ...more) {
    count += 1;
    input.id = `sharp-lab-control-${count}`;
    const words = html("label", { htmlFor: input.id, textContent: label });
    const control = html("div", { className: "sharp-lab-control" }, words, input, ...more);
    for (const output of more) output.htmlFor = input.id;
    this.#controls.append(control);
  }

  /* Rows of name, label, value and, if `say` doesn't do, words. */
  showNumbers(rows) {
    this.#numbers.replaceChildren(
      ...rows.map(([name, label, value, words = say(value)]) => {
        const number = html("dd", { textContent: words });
        Object.assign(number.dataset, { quantity: name, value });
        return html("div", {}, html("dt", { textContent: label }), number);
      }),
    );
  }

  /* Say it once the reader's hand rests, so that a screen reader can follow. */
  tell(sentence) {
    clearTimeout(this.#timer);
    const wait = this.#words.textContent ? 300 : 0;
    this.#timer = setTimeout(() => (this.#words.textContent = sentence), wait);
  }

  redraw() {
    this.#width = this.#charts.clientWidth;
    this.update();
  }
}
