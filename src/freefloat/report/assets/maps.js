// Heat maps over two joints: one cursor for all of them, and what they say at it.

class MapPage {
  constructor(contents) {
    Object.assign(this, contents);
    this.byId = (id) => document.getElementById(id);
    this.columns = this.axes[0].values.length;
    this.step = this.axes.map(({ values }) => (values[values.length - 1] - values[0]) / (values.length - 1));
    this.cursor = this.configuration.at ?? [Math.floor(this.columns / 2), Math.floor(this.axes[1].values.length / 2)];
  }

  async open() {
    this.theme = chosenTheme();
    themeControls(this);
    for (const map of this.maps) this.card(map);
    this.read(this.cursor, true);
    await runScript("plotting");
    Bokeh.logger?.set_level?.("off");
    await this.drawTheme();
    document.documentElement.dataset.ready = "true";
  }

  async drawTheme() {
    for (const map of this.maps) await this.draw(map);
    this.read(this.cursor, true);
  }

  card(map) {
    const card = document.createElement("article");
    card.className = "card";
    card.dataset.map = map.name;
    const title = document.createElement("h3");
    title.textContent = map.label;
    const unit = document.createElement("span");
    Object.assign(unit, { className: "unit", textContent: map.unit && map.unit !== "1" ? ` [${map.unit}]` : "" });
    title.append(unit);
    map.stage = document.createElement("div");
    map.stage.className = "stage";
    map.legend = document.createElement("ul");
    card.append(title, map.stage, map.legend);
    this.byId("maps").append(card);
    map.stage.addEventListener("pointermove", (event) => {
      const at = map.view && pointed(map, event);
      if (at) this.read(at.map((value, axis) => this.nearest(axis, value)), false);
    });
    map.stage.addEventListener("pointerleave", () => this.configuration.at && this.read(this.configuration.at, true));
  }

  nearest(axis, value) {
    const { values } = this.axes[axis];
    return Math.max(0, Math.min(values.length - 1, Math.round((value - values[0]) / this.step[axis])));
  }

  // ---- drawing

  async draw(map) {
    const ends = this.axes.map(({ values }, axis) => [values[0] - this.step[axis] / 2, values[values.length - 1] + this.step[axis] / 2]);
    const range = ([start, end]) => new Bokeh.Range1d({ start, end, bounds: [start, end] });
    const figure = pageFigure({
      height: 430, min_border_left: 66, tools: "pan,box_zoom,wheel_zoom,reset,save", active_scroll: null, toolbar_location: "above",
      x_range: range(ends[0]), y_range: range(ends[1]),
    });
    figure.below[0].axis_label = plainText(`${this.axes[0].name} [${this.axes[0].unit}]`);
    figure.left[0].axis_label = plainText(`${this.axes[1].name} [${this.axes[1].unit}]`);
    [figure.below[0], figure.left[0]].forEach((ruler, axis) => {
      if (this.axes[axis].unit === "deg") ruler.ticker = new Bokeh.AdaptiveTicker({ mantissas: [1, 1.5, 3, 4.5, 9], desired_num_ticks: 7 });
    });
    for (const grid of figure.center) grid.visible = false;
    this.picture(map, figure, ends);
    map.entries = [];
    for (const line of map.lines) this.line(map, figure, line);
    this.marks(map, figure);
    map.cursors = ["height", "width"].map((dimension) => new Bokeh.Span({ dimension, line_color: "#ffffff", line_alpha: 0.7, line_width: 1 }));
    for (const span of map.cursors) figure.add_layout(span);
    await putFigure(map, figure);
    map.legend.replaceChildren(...map.entries.map(([sign, words]) => {
      const item = document.createElement("li");
      item.append(sign, document.createTextNode(words));
      return item;
    }));
  }

  picture(map, figure, [[x, right], [y, top]]) {
    const [low, high] = map.range;
    const Mapper = map.logarithmic ? Bokeh.LogColorMapper : Bokeh.LinearColorMapper;
    const mapper = new Mapper({ palette: Bokeh.Palettes.Viridis256, low, high, nan_color: pageColour("rule") });
    const { ndarray } = Bokeh.require("core/util/ndarray");
    const image = ndarray(map.values.slice().buffer, { dtype: "float32", shape: [this.axes[1].values.length, this.columns] });
    figure.image({ image: { field: "image" }, x, y, dw: right - x, dh: top - y, color_mapper: mapper, source: new Bokeh.ColumnDataSource({ data: { image: [image] } }) });
    const ink = pageColour("ink-soft");
    figure.add_layout(new Bokeh.ColorBar({
      color_mapper: mapper, width: 14, padding: 8, label_standoff: 6, background_fill_alpha: 0, bar_line_color: null, major_tick_line_color: ink,
      major_label_text_color: ink, major_label_text_font_size: "11px", title_text_color: ink, title_text_font_size: "12px", title_text_font_style: "normal", title_standoff: 6,
      title: plainText([map.unit && map.unit !== "1" ? `[${map.unit}]` : "[-]", map.cut ? `darkest: ${figures(low)} or less` : ""].filter(Boolean).join(", ")),
      ticker: map.logarithmic ? new Bokeh.LogTicker({ desired_num_ticks: 8, num_minor_ticks: 0 }) : new Bokeh.BasicTicker({ desired_num_ticks: 8 }),
      formatter: new Bokeh.PrintfTickFormatter({ format: "%.3g" }),
    }), "right");
  }

  line(map, figure, { label, dash, paths }) {
    const colour = dash === "solid" ? "#ff5d4d" : "#ffffff";
    const source = new Bokeh.ColumnDataSource({ data: { xs: paths.map((path) => path[0]), ys: paths.map((path) => path[1]) } });
    figure.multi_line({ field: "xs" }, { field: "ys" }, { source, line_color: colour, line_dash: dash, line_width: dash === "solid" ? 2.2 : 1.4 });
    const sign = swatch(dash === "solid" ? colour : pageColour("ink-soft"), dash);
    map.entries.push([sign, label]);
  }

  marks(map, figure) {
    if (map.crosses.length) {
      const source = new Bokeh.ColumnDataSource({ data: { x: map.crosses.map((at) => at[0]), y: map.crosses.map((at) => at[1]) } });
      figure.scatter({ field: "x" }, { field: "y" }, { source, marker: "x", size: 8, line_color: "#ffd54a", line_width: 2.2 });
      const sign = Object.assign(document.createElement("b"), { textContent: "×" });
      map.entries.push([sign, "dynamic singularity"]);
    }
    if (!this.configuration.at) return;
    const [x, y] = this.configuration.place;
    const source = new Bokeh.ColumnDataSource({ data: { x: [x], y: [y] } });
    figure.scatter({ field: "x" }, { field: "y" }, { source, marker: "circle", size: 15, line_color: "#000000", line_width: 4.5, fill_alpha: 0 });
    figure.scatter({ field: "x" }, { field: "y" }, { source, marker: "circle", size: 15, line_color: "#ffffff", line_width: 2.2, fill_alpha: 0 });
    map.entries.push([Object.assign(document.createElement("b"), { textContent: "◯" }), "configuration"]);
  }

  // ---- reading

  read(at, configuration) {
    this.cursor = at;
    const [i, j] = at;
    const own = configuration && this.configuration.at;
    const place = this.axes.map(({ values }, axis) => (own ? this.configuration.place[axis] : values[at[axis]]));
    this.byId("where").textContent = own ? "At the configuration" : "At the pointer";
    this.byId("place").textContent = this.axes.map((axis, k) => `${axis.name} ${Number(place[k].toPrecision(4))} ${axis.unit}`).join(", ");
    this.byId("numbers").replaceChildren(...this.maps.flatMap((map) => {
      const [term, value] = ["dt", "dd"].map((tag) => document.createElement(tag));
      term.textContent = map.label;
      value.textContent = withUnit(map.values[j * this.columns + i], map.unit);
      return [term, value];
    }));
    this.bars(i, j);
    for (const map of this.maps) map.cursors?.forEach((span, axis) => { span.visible = !own; span.location = this.axes[axis].values[at[axis]]; });
  }

  // The most disturbing direction as one bar for each joint, the largest to the right.
  bars(i, j) {
    this.byId("direction").hidden = !this.worst;
    if (!this.worst) return;
    const size = this.joints.length;
    const first = (i * this.axes[1].values.length + j) * size;
    const shares = [...this.worst.subarray(first, first + size)];
    const sign = Math.sign(shares.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0)) || 1;
    this.byId("direction").querySelector("ul").replaceChildren(...shares.map((share, k) => {
      const [item, name, bar, value] = ["li", "span", "i", "output"].map((tag) => document.createElement(tag));
      name.textContent = this.joints[k];
      value.textContent = (sign * share).toFixed(2).replace(/^-0.00$/, "0.00");
      const width = 50 * Math.abs(share);
      Object.assign(bar.style, { left: `${sign * share < 0 ? 50 - width : 50}%`, width: `${width}%` });
      const track = document.createElement("span");
      track.className = "track";
      track.append(bar);
      item.append(name, track, value);
      return item;
    }));
  }
}

requestAnimationFrame(() => setTimeout(async () => {
  try {
    window.freefloat = new MapPage(await contentsOf("contents"));
    await window.freefloat.open();
  } catch (fault) {
    document.getElementById("where").textContent = `This page could not start: ${fault.message}`;
    throw fault;
  }
}));
