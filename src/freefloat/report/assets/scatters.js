// Many runs as points, with the runs of this page among them. The words are in the page already.

class Scatters {
  constructor(scatters) {
    this.theme = "light";
    this.plots = scatters.map((scatter, number) => {
      const card = document.querySelector(`[data-scatter="${number}"]`);
      const plot = { ...scatter, card, stage: card.querySelector(".stage"), legend: card.querySelector("ul"), reading: card.querySelector(".reading") };
      plot.stage.addEventListener("pointermove", (event) => this.read(plot, event));
      plot.hint = plot.reading.textContent;
      plot.stage.addEventListener("pointerleave", () => { plot.reading.textContent = plot.hint; });
      return plot;
    });
  }

  async setTheme(theme) {
    this.theme = theme;
    for (const plot of this.plots) await this.draw(plot);
  }

  async draw(plot) {
    const { x, y } = plot;
    const figure = pageFigure({
      height: 340, min_border_left: 64, tools: "pan,box_zoom,wheel_zoom,reset,save", active_scroll: null,
      x_axis_type: x.logarithmic ? "log" : "linear", y_axis_type: y.logarithmic ? "log" : "linear",
      x_range: new Bokeh.Range1d({ start: x.limits[0], end: x.limits[1] }), y_range: new Bokeh.Range1d({ start: y.limits[0], end: y.limits[1] }),
    });
    figure.below[0].axis_label = plainText(x.label);
    figure.left[0].axis_label = plainText(y.label);
    plot.entries = [];
    this.never(figure, x, "height", figure.below[0]);
    this.never(figure, y, "width", figure.left[0]);
    plot.guides.forEach((guide, k) => this.guide(plot, figure, guide, k));
    plot.groups.forEach((group, k) => {
      const colour = COLOURS[this.theme][k % COLOURS[this.theme].length];
      const source = new Bokeh.ColumnDataSource({ data: { x: group.xPlace, y: group.yPlace } });
      figure.scatter({ field: "x" }, { field: "y" }, { source, size: 6, line_color: null, fill_color: colour, fill_alpha: k ? 0.9 : 0.45 });
      plot.entries.push([swatch(colour, "dot"), `${group.name} (${group.count})`]);
    });
    for (const mark of plot.marks) this.mark(plot, figure, mark);
    await putFigure(plot, figure);
    plot.legend.replaceChildren(...plot.entries.map(([sign, words]) => {
      const item = document.createElement("li");
      item.append(sign, document.createTextNode(words));
      return item;
    }));
  }

  // Where what never happened is drawn: a band, and a tick of its own.
  never(figure, axis, dimension, ruler) {
    if (axis.never === null) return;
    figure.add_layout(new Bokeh.Span({ location: axis.never, dimension, line_color: pageColour("rule"), line_width: 9, level: "underlay" }));
    const rough = (axis.never - axis.limits[0]) / 8;
    const ten = 10 ** Math.floor(Math.log10(rough));
    const step = ten * [1, 2, 5, 10].find((times) => times * ten >= rough);
    const ticks = [];
    for (let tick = Math.ceil(axis.limits[0] / step) * step; tick < axis.never - step / 2; tick += step) ticks.push(tick);
    ruler.ticker = new Bokeh.FixedTicker({ ticks: [...ticks, axis.never] });
    figure.center[dimension === "height" ? 0 : 1].ticker = ruler.ticker;
    ruler.major_label_overrides = new Map([[axis.never, "never"]]);
  }

  guide(plot, figure, guide, number) {
    const { limits: [low, high], logarithmic } = plot.x;
    const steps = Array.from({ length: 60 }, (_, k) => (logarithmic ? low * (high / low) ** (k / 59) : low + ((high - low) * k) / 59));
    const [colour, dash] = [pageColour("ink-soft"), ["solid", "dashed", "dotted"][number % 3]];
    const source = new Bokeh.ColumnDataSource({ data: { x: steps, y: steps.map((step) => guide.slope * step) } });
    figure.line({ field: "x" }, { field: "y" }, { source, line_color: colour, line_dash: dash, line_width: 1 });
    plot.entries.push([swatch(colour, dash), guide.label]);
  }

  mark(plot, figure, mark) {
    const colour = pageColour("ink");
    if (mark.x === null || mark.y === null) {
      const upright = mark.y === null;
      figure.add_layout(new Bokeh.Span({ location: upright ? mark.x : mark.y, dimension: upright ? "height" : "width", line_color: pageColour("accent"), line_width: 1.5 }));
      plot.entries.push([swatch(pageColour("accent")), mark.label]);
      return;
    }
    const source = new Bokeh.ColumnDataSource({ data: { x: [mark.x], y: [mark.y] } });
    figure.scatter({ field: "x" }, { field: "y" }, { source, marker: "star", size: 17, line_color: pageColour("card"), line_width: 1, fill_color: colour });
    const star = document.createElement("b");
    star.textContent = "★";
    plot.entries.push([star, mark.label]);
  }

  // The numbers of the point nearest to the pointer.
  read(plot, event) {
    const box = plot.stage.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const { x_scale: across, y_scale: up } = plot.view.frame;
    let best = { distance: 20 };
    for (const group of plot.groups)
      group.xPlace.forEach((place, row) => {
        const distance = Math.hypot(across.compute(place) - px, up.compute(group.yPlace[row]) - py);
        if (distance < best.distance) best = { distance, group, row };
      });
    const words = (axis, value) => `${axis.label.replace(/ \[.*\]$/, "")} ${Number.isFinite(value) ? withUnit(value, axis.unit) : "never"}`;
    plot.reading.textContent = best.group ? `${words(plot.x, best.group.x[best.row])}; ${words(plot.y, best.group.y[best.row])} (${best.group.name})` : plot.hint;
  }
}
