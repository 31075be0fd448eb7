// Poles, damping and frequency responses of a linear model; a click on a mode chooses it.

// Both signs over many powers of ten: linear near zero, powers of ten beyond.
class Signed {
  constructor(values) {
    const sizes = values.map(Math.abs).filter((x) => x > 0);
    this.zero = 10 ** Math.floor(Math.log10(Math.min(1, ...sizes)));
    this.top = Math.ceil(Math.log10(Math.max(this.zero, ...sizes)));
    this.low = Math.round(Math.log10(this.zero));
  }

  at(x) {
    return Math.sign(x) * Math.log10(1 + Math.abs(x) / this.zero);
  }

  // Ticks at powers of ten, few enough to be read.
  ticks(signs) {
    const step = Math.max(1, Math.ceil((this.top - this.low) / 5));
    const places = new Map([[0, "0"]]);
    for (let power = this.top; power >= this.low; power -= step)
      for (const sign of signs) places.set(this.at(sign * 10 ** power), `${sign < 0 ? "−" : ""}10${superscript(power)}`);
    return places;
  }

  end() {
    return this.at(10 ** this.top);
  }
}

const superscript = (n) => String(n).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
const TOOLS = "pan,box_zoom,wheel_zoom,reset,save";

class Responses {
  constructor(contents, choose) {
    this.contents = contents;
    this.choose = choose;
    this.marked = 0;
    this.charts = Object.fromEntries(["pole-map", "damping", "singular", "bode"].map((id) => {
      const card = document.getElementById(id);
      const stages = [...card.querySelectorAll(".stage")].map((stage) => ({ stage }));
      const reading = card.querySelector(".reading");
      return [id, { card, stages, legend: card.querySelector("ul"), reading, hint: reading.textContent }];
    }));
    this.pickers();
    for (const id of ["pole-map", "damping"]) this.points(this.charts[id]);
    for (const id of ["singular", "bode"]) this.curves(this.charts[id]);
  }

  pickers() {
    for (const [id, names] of [["input", this.contents.inputs], ["output", this.contents.outputs]]) {
      const select = document.getElementById(id);
      names.forEach((each, k) => {
        const option = document.createElement("option");
        option.value = String(k);
        option.textContent = each.name;
        select.append(option);
      });
      select.addEventListener("change", () => this.drawBode());
    }
  }

  async setTheme(theme) {
    this.theme = theme;
    await this.drawPoles();
    await this.drawDamping();
    await this.drawSingular();
    await this.drawBode();
  }

  sets() {
    const { contents } = this;
    const [blue, orange] = COLOURS[this.theme];
    const found = [{ label: "without control", colour: blue, marker: "x", all: contents.polesBefore, modes: contents.before }];
    if (contents.polesAfter) found.push({ label: "with the controller", colour: orange, marker: "circle", all: contents.polesAfter, modes: contents.after });
    return found;
  }

  // ---- poles

  async drawPoles() {
    const chart = this.charts["pole-map"];
    const sets = this.sets();
    const scales = [0, 1].map((axis) => new Signed(sets.flatMap((set) => set.all.map((pole) => pole[axis]))));
    const most = Math.max(...sets.flatMap((set) => set.all.map((pole) => pole[0])));
    const figure = pageFigure({ height: 340, min_border_left: 64, tools: TOOLS, active_scroll: null,
      x_range: new Bokeh.Range1d({ start: -scales[0].end() - 0.4, end: Math.max(scales[0].at(most), 0) + 0.8 }),
      y_range: new Bokeh.Range1d({ start: -0.3, end: scales[1].end() + 0.3 }) });
    this.ruler(figure, figure.below[0], 0, scales[0].ticks([-1, 1]), "real part [1/s]");
    this.ruler(figure, figure.left[0], 1, scales[1].ticks([1]), "imaginary part [rad/s]");
    figure.add_layout(new Bokeh.Span({ location: 0, dimension: "height", line_color: pageColour("ink-soft"), line_width: 1 }));
    chart.entries = [];
    for (const ratio of [0.001, 0.01, 0.1, 0.7]) this.ray(figure, scales, ratio);
    chart.entries.push([swatch(pageColour("ink-soft"), "dotted"), "damping 0.1, 1, 10, 70 %"]);
    chart.marks = [];
    for (const set of sets) {
      const places = set.all.map((pole) => pole.map((x, axis) => scales[axis].at(x)));
      this.scatter(figure, set, places);
      chart.entries.push([swatch(set.colour, "dot"), `${set.label} (${set.marker === "x" ? "×" : "○"})`]);
      set.modes.forEach((pole, k) => pole && chart.marks.push({ place: pole.map((x, axis) => scales[axis].at(x)), k, pole, label: set.label }));
    }
    chart.ring = this.ring(figure);
    await this.finish(chart, figure);
    this.mark(this.marked);
  }

  ray(figure, scales, ratio) {
    const { zero, top } = scales[1];
    const sizes = Array.from({ length: 80 }, (_, k) => zero * (10 ** top / zero) ** (k / 79));
    const source = new Bokeh.ColumnDataSource({ data: {
      x: sizes.map((w) => scales[0].at(-ratio * w)), y: sizes.map((w) => scales[1].at(Math.sqrt(1 - ratio * ratio) * w)),
    } });
    figure.line({ field: "x" }, { field: "y" }, { source, line_color: pageColour("ink-soft"), line_dash: "dotted", line_width: 1 });
  }

  ruler(figure, axis, dimension, places, label) {
    axis.ticker = new Bokeh.FixedTicker({ ticks: [...places.keys()] });
    axis.major_label_overrides = places;
    axis.axis_label = plainText(label);
    figure.center[dimension].ticker = axis.ticker;
  }

  scatter(figure, set, places) {
    const source = new Bokeh.ColumnDataSource({ data: { x: places.map((p) => p[0]), y: places.map((p) => p[1]) } });
    const fill = set.marker === "circle" ? { fill_color: set.colour, fill_alpha: 0.25 } : { fill_alpha: 0 };
    figure.scatter({ field: "x" }, { field: "y" }, { source, marker: set.marker, size: set.marker === "x" ? 8 : 7, line_color: set.colour, line_width: 1.6, ...fill });
  }

  ring(figure) {
    const source = new Bokeh.ColumnDataSource({ data: { x: [], y: [] } });
    figure.scatter({ field: "x" }, { field: "y" }, { source, marker: "circle", size: 15, line_color: pageColour("accent"), line_width: 2, fill_alpha: 0 });
    return source;
  }

  // ---- damping over frequency

  async drawDamping() {
    const chart = this.charts.damping;
    const sets = this.sets().map((set) => ({ ...set, found: set.modes.map((pole) => pole && pole[1] > 1e-9 ? [Math.hypot(...pole), -pole[0] / Math.hypot(...pole)] : null) }));
    const all = sets.flatMap((set) => set.found.filter(Boolean));
    const ratios = all.map((pair) => pair[1]).filter((ratio) => ratio > 1e-10);
    const least = 10 ** (Math.floor(Math.log10(Math.min(1e-3, ...ratios))) - 1);
    const place = ([w, ratio]) => [w, ratio > 1e-10 ? ratio : least];
    const rates = all.map((pair) => pair[0]);
    const figure = pageFigure({ height: 340, min_border_left: 64, tools: TOOLS, active_scroll: null, x_axis_type: "log", y_axis_type: "log",
      x_range: new Bokeh.Range1d({ start: 0.5 * Math.min(1, ...rates), end: 2 * Math.max(1, ...rates) }), y_range: new Bokeh.Range1d({ start: 0.5 * least, end: 1.5 }) });
    figure.below[0].axis_label = plainText("frequency [rad/s]");
    figure.left[0].axis_label = plainText("damping [-]");
    figure.add_layout(new Bokeh.Span({ location: least, dimension: "width", line_color: pageColour("rule"), line_width: 9, level: "underlay" }));
    chart.entries = [[swatch(pageColour("rule")), "grey line: none, or it grows"]];
    chart.marks = [];
    for (const set of sets) {
      this.scatter(figure, set, set.found.filter(Boolean).map(place));
      chart.entries.push([swatch(set.colour, "dot"), `${set.label} (${set.marker === "x" ? "×" : "○"})`]);
      set.found.forEach((pair, k) => pair && chart.marks.push({ place: place(pair), k, pole: set.modes[k], label: set.label }));
    }
    chart.ring = this.ring(figure);
    await this.finish(chart, figure);
    this.mark(this.marked);
  }

  // The mode under the pointer is told; a click shows it moving.
  points(chart) {
    const { stage } = chart.stages[0];
    const nearest = (event) => {
      const box = stage.getBoundingClientRect();
      const { x_scale: across, y_scale: up } = chart.stages[0].view.frame;
      let best = { distance: 16 };
      for (const mark of chart.marks) {
        const distance = Math.hypot(across.compute(mark.place[0]) - (event.clientX - box.left), up.compute(mark.place[1]) - (event.clientY - box.top));
        if (distance < best.distance) best = { distance, mark };
      }
      return best.mark;
    };
    stage.addEventListener("pointermove", (event) => {
      const mark = chart.stages[0].view && nearest(event);
      chart.reading.textContent = mark ? `${this.contents.modes[mark.k].name}, ${mark.label}: ${poleWords(mark.pole)}` : chart.hint;
    });
    stage.addEventListener("click", (event) => {
      const mark = chart.stages[0].view && nearest(event);
      if (mark) this.choose(mark.k);
    });
  }

  mark(k) {
    this.marked = k;
    for (const id of ["pole-map", "damping"]) {
      const chart = this.charts[id];
      if (!chart.ring) continue;
      const own = chart.marks.filter((mark) => mark.k === k);
      chart.ring.data = { x: own.map((mark) => mark.place[0]), y: own.map((mark) => mark.place[1]) };
    }
  }

  // ---- responses

  async drawSingular() {
    const chart = this.charts.singular;
    const lines = this.contents.responses.flatMap((response, k) => [
      { label: `${response.label}: largest`, values: response.largest, colour: COLOURS[this.theme][k], dash: "solid" },
      { label: `${response.label}: smallest`, values: response.smallest, colour: COLOURS[this.theme][k], dash: "dotted" },
    ]);
    chart.entries = [];
    chart.lines = [lines];
    await this.finish(chart, this.decades(chart, lines, 340, "singular values [SI]"));
  }

  async drawBode() {
    const chart = this.charts.bode;
    const [input, output] = ["input", "output"].map((id) => Number(document.getElementById(id).value));
    const { inputs, outputs, frequencies, responses } = this.contents;
    const [above, below] = [outputs[output]?.unit, inputs[input]?.unit];
    const unit = above && below ? `${above}/${below.includes(" ") ? `(${below})` : below}` : "SI";
    chart.card.querySelector(".unit").textContent = `[${unit}]`;
    const first = (output * inputs.length + input) * frequencies.length;
    const of = (values) => values.subarray(first, first + frequencies.length);
    const sizes = responses.map((response, k) => ({ label: response.label, values: of(response.size), colour: COLOURS[this.theme][k], dash: "solid" }));
    const phases = responses.map((response, k) => ({ label: response.label, values: of(response.phase), colour: COLOURS[this.theme][k], dash: "solid", unit: "deg" }));
    chart.entries = [];
    chart.lines = [sizes, phases];
    const upper = this.decades(chart, sizes, 220, `size [${unit}]`);
    const lower = pageFigure({ height: 150, min_border_left: 64, tools: TOOLS, active_scroll: null, x_axis_type: "log",
      x_range: new Bokeh.Range1d({ start: frequencies[0], end: frequencies.at(-1) }) });
    shareRange(upper.x_range, lower.x_range);
    shareRange(lower.x_range, upper.x_range);
    lower.left[0].axis_label = plainText("phase [deg]");
    lower.left[0].ticker = new Bokeh.AdaptiveTicker({ mantissas: [1, 1.8, 3.6, 9], desired_num_ticks: 4 });
    lower.below[0].axis_label = plainText("frequency [rad/s]");
    for (const line of phases) this.line(lower, line, line.values);
    await this.finish(chart, upper, lower);
  }

  // Curves whose values are powers of ten, on a logarithmic axis that leaves out what is beyond twenty-four of them.
  decades(chart, lines, height, label) {
    const { frequencies } = this.contents;
    const sorted = [...lines.flatMap((line) => [...line.values])].filter((x) => x > -29).sort((a, b) => a - b);
    const top = sorted.length ? sorted.at(-1) : 0;
    const bottom = sorted.length ? Math.max(sorted[Math.floor(sorted.length / 100)], top - 24) : -1;
    const figure = pageFigure({ height, min_border_left: 64, tools: TOOLS, active_scroll: null, x_axis_type: "log", y_axis_type: "log",
      x_range: new Bokeh.Range1d({ start: frequencies[0], end: frequencies.at(-1) }), y_range: new Bokeh.Range1d({ start: 10 ** (bottom - 0.3), end: 10 ** (top + 0.3) }) });
    figure.left[0].axis_label = plainText(label);
    figure.below[0].axis_label = plainText("frequency [rad/s]");
    for (const line of lines) {
      this.line(figure, line, Float64Array.from(line.values, (x) => (x > -29 ? 10 ** x : NaN)));
      chart.entries.push([swatch(line.colour, line.dash), line.label]);
    }
    return figure;
  }

  line(figure, { colour, dash }, values) {
    const source = new Bokeh.ColumnDataSource({ data: { x: this.contents.frequencies, y: values } });
    figure.line({ field: "x" }, { field: "y" }, { source, line_color: colour, line_dash: dash, line_width: 1.7 });
  }

  curves(chart) {
    chart.stages.forEach((plot, row) => {
      plot.stage.addEventListener("pointermove", (event) => {
        const at = plot.view && pointed(plot, event);
        if (!at) return;
        const { frequencies } = this.contents;
        const [below, part] = between(frequencies, at[0]);
        const k = part > 0.5 ? Math.min(below + 1, frequencies.length - 1) : below;
        const words = chart.lines[row].map(({ label, values, unit }) => `${label} ${unit ? withUnit(values[k], unit) : (10 ** values[k]).toPrecision(4)}`);
        chart.reading.textContent = `${frequencies[k].toPrecision(5)} rad/s: ${words.join(", ")}`;
      });
      plot.stage.addEventListener("pointerleave", () => { chart.reading.textContent = chart.hint; });
    });
  }

  async finish(chart, ...made) {
    for (const [k, figure] of made.entries()) await putFigure(chart.stages[k], figure);
    chart.legend.replaceChildren(...chart.entries.map(([sign, words]) => {
      const item = document.createElement("li");
      item.append(sign, document.createTextNode(words));
      return item;
    }));
  }
}

// Two plots of one frequency axis: zooming one zooms the other.
function shareRange(from, to) {
  const share = () => (to.start !== from.start || to.end !== from.end) && to.setv({ start: from.start, end: from.end });
  for (const end of ["start", "end"]) from.properties[end].change.connect(share);
}

function poleWords([re, im]) {
  const size = Math.hypot(re, im);
  if (im <= 1e-9) return `${re.toPrecision(4)} 1/s`;
  return `${re.toPrecision(4)} ± ${im.toPrecision(5)}i 1/s, damping ${((-100 * re) / size).toPrecision(3)} %`;
}
