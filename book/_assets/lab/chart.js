/* A chart in SVG: axes, lines, areas, dots and words, as wide as there is room.

   Drawn anew at each change. Text has the page's size at any width, and lines without
   a colour of their own have the page's. */

const SPACE = "http://www.w3.org/2000/svg";
const MARGIN = { top: 12, right: 16, bottom: 44, left: 56 };

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

export class Chart {
  /* x and y: {label, min, max, log (default false), ticks: [values], format} */
  constructor({ x, y, height = 300 }) {
    Object.assign(this, { x, y, height, width: 600 });
    this.element = svg("svg", { role: "img", class: "sharp-lab-chart" });
  }

  /* Forget the picture and draw the axes; `description` says what is to be seen. */
  begin(description) {
    // Zero while it is hidden, as on paper.
    this.width = Math.max(this.element.parentElement?.clientWidth || this.width, 260);
    const { element, width, height } = this;
    element.replaceChildren();
    for (const [key, value] of Object.entries({
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      "aria-label": description,
    }))
      element.setAttribute(key, value);
    this.#axis("x");
    this.#axis("y");
  }

  get box() {
    const { top, right, bottom, left } = MARGIN;
    return { x0: left, x1: this.width - right, y0: this.height - bottom, y1: top };
  }

  /* From numbers to pixels; beyond the axis is at its end. */
  at(axis, value) {
    const { min, max, log } = this[axis];
    const scale = log ? Math.log : z => z;
    const share = (scale(value) - scale(min)) / (scale(max) - scale(min));
    const [start, end] = [this.box[`${axis}0`], this.box[`${axis}1`]];
    return start + Math.min(Math.max(share, 0), 1) * (end - start);
  }

  /* From a pointer's place to numbers. */
  from(event) {
    const frame = this.element.getBoundingClientRect();
    const place = { x: event.clientX - frame.left, y: event.clientY - frame.top };
    return Object.fromEntries(
      ["x", "y"].map(axis => {
        const [start, end] = [this.box[`${axis}0`], this.box[`${axis}1`]];
        const share = Math.min(Math.max((place[axis] - start) / (end - start), 0), 1);
        const { min, max, log } = this[axis];
        return [axis, log ? min * (max / min) ** share : min + share * (max - min)];
      }),
    );
  }

  /* Call `move` with the numbers under a pointer that presses and drags. */
  onDrag(move) {
    const element = this.element;
    element.classList.add("sharp-lab-draggable");
    element.addEventListener("pointerdown", event => {
      element.setPointerCapture(event.pointerId);
      move(this.from(event), true);
    });
    element.addEventListener("pointermove", event => {
      if (element.hasPointerCapture(event.pointerId)) move(this.from(event), false);
    });
  }

  #path(points) {
    const pairs = points.map(([x, y]) => [this.at("x", x), this.at("y", y)]);
    return pairs.map(pair => pair.map(z => z.toFixed(1)).join(" ")).join("L");
  }

  line(points, style = "") {
    if (points.length > 0) this.#add("path", { d: `M${this.#path(points)}`, class: `line ${style}` });
  }

  area(points, style = "") {
    this.#add("path", { d: `M${this.#path(points)}Z`, class: `area ${style}` });
  }

  bar(x0, x1, y, style = "") {
    this.area([[x0, this.y.min], [x0, y], [x1, y], [x1, this.y.min]], style);
  }

  dot(x, y, style = "", radius = 6) {
    this.#add("circle", { cx: this.at("x", x), cy: this.at("y", y), r: radius, class: `dot ${style}` });
  }

  words(text, x, y, style = "", { dx = 0, dy = 0, anchor = "start" } = {}) {
    const place = { x: this.at("x", x) + dx, y: this.at("y", y) + dy, "text-anchor": anchor };
    this.#add("text", { ...place, class: `words ${style}` }, text);
  }

  #add(name, attributes, ...children) {
    this.element.append(svg(name, attributes, ...children));
  }

  #axis(name) {
    const { box } = this;
    const { label, ticks, min, max, format = String } = this[name];
    for (const tick of ticks) {
      const place = this.at(name, tick);
      const ends = name === "x" ? [place, box.y0, place, box.y1] : [box.x0, place, box.x1, place];
      this.#add("path", { d: `M${ends.slice(0, 2)}L${ends.slice(2)}`, class: "grid" });
      const text =
        name === "x"
          ? { x: place, y: box.y0 + 18, "text-anchor": "middle" }
          : { x: box.x0 - 8, y: place + 4, "text-anchor": "end" };
      this.#add("text", { ...text, class: "tick" }, format(tick));
    }
    const spine = name === "x" ? [box.x0, box.y0, box.x1, box.y0] : [box.x0, box.y0, box.x0, box.y1];
    this.#add("path", { d: `M${spine.slice(0, 2)}L${spine.slice(2)}`, class: "spine" });
    const middle = (box.y0 + box.y1) / 2;
    const title =
      name === "x"
        ? { x: (box.x0 + box.x1) / 2, y: this.height - 6 }
        : { x: 0, y: 0, transform: `translate(13 ${middle}) rotate(-90)` };
    this.#add("text", { ...title, "text-anchor": "middle", class: "title" }, label);
  }
}
