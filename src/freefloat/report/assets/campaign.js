// A campaign: histograms, a matrix of scatters whose points can be run again, and how the estimate settled.

class CampaignPage {
  constructor(contents) {
    Object.assign(this, contents);
    this.plots = [];
  }

  async open() {
    this.theme = chosenTheme();
    themeControls(this);
    for (const one of this.histograms) this.card("#histograms .scatters", one.title, (plot) => this.histogram(plot, one));
    this.matrix.y.forEach((y) => this.matrix.x.forEach((x) => this.card("#matrix .matrix", `${y.name} by ${x.name}`, (plot) => this.scatter(plot, x, y))));
    if (this.convergence.runs.length) this.card("#convergence .scatters", this.convergence.title, (plot) => this.settled(plot));
    for (const button of document.querySelectorAll("[data-run]")) button.addEventListener("click", () => this.choose(Number(button.dataset.run)));
    await runScript("plotting");
    Bokeh.logger?.set_level?.("off");
    await this.drawTheme();
    document.documentElement.dataset.ready = "true";
  }

  async drawTheme() {
    for (const plot of this.plots) await plot.draw(plot);
  }

  card(place, title, draw) {
    const [card, heading, stage] = ["article", "h3", "div"].map((tag) => document.createElement(tag));
    card.className = "card scatter";
    heading.textContent = title;
    stage.className = "stage";
    card.append(heading, stage);
    document.querySelector(place).append(card);
    this.plots.push({ stage, draw });
  }

  colour(number) {
    return COLOURS[this.theme][number % COLOURS[this.theme].length];
  }

  async histogram(plot, { edges, counts, label, limits, note }) {
    const figure = pageFigure({ height: 240, min_border_left: 56, tools: "pan,box_zoom,reset,save" });
    figure.below[0].axis_label = plainText(note ? `${label} (${note})` : label);
    figure.left[0].axis_label = plainText("runs");
    const source = new Bokeh.ColumnDataSource({ data: { left: [...edges.slice(0, -1)], right: [...edges.slice(1)], top: [...counts] } });
    figure.quad({ left: { field: "left" }, right: { field: "right" }, top: { field: "top" }, bottom: 0, source, fill_color: this.colour(0), line_color: null, fill_alpha: 0.75 });
    for (const location of limits) figure.add_layout(new Bokeh.Span({ location, dimension: "height", line_color: pageColour("accent"), line_width: 2, line_dash: "dashed" }));
    await putFigure(plot, figure);
  }

  async scatter(plot, x, y) {
    const figure = pageFigure({ height: 210, min_border_left: 56, tools: "pan,box_zoom,wheel_zoom,reset,save", active_scroll: null });
    figure.below[0].axis_label = plainText(x.label);
    figure.left[0].axis_label = plainText(y.label);
    [true, false].forEach((met) => {
      const rows = this.met.reduce((found, value, row) => (Boolean(value) === met && Number.isFinite(y.values[row]) ? [...found, row] : found), []);
      const source = new Bokeh.ColumnDataSource({ data: { x: rows.map((row) => x.values[row]), y: rows.map((row) => y.values[row]) } });
      figure.scatter({ field: "x" }, { field: "y" }, { source, size: 4, line_color: null, fill_color: met ? this.colour(0) : this.colour(1), fill_alpha: 0.55 });
    });
    await putFigure(plot, figure);
    plot.stage.onclick = (event) => {
      const at = pointed(plot, event);
      if (at) this.choose(this.nearest(plot, event, x, y));
    };
  }

  nearest(plot, event, x, y) {
    const box = plot.stage.getBoundingClientRect();
    const { x_scale: across, y_scale: up } = plot.view.frame;
    let best = [Infinity, 0];
    x.values.forEach((value, row) => {
      const distance = Math.hypot(across.compute(value) - (event.clientX - box.left), up.compute(y.values[row]) - (event.clientY - box.top));
      if (distance < best[0]) best = [distance, this.runs[row]];
    });
    return best[1];
  }

  // How a run is run again: the command, on the clipboard too, and where its page will be.
  choose(run) {
    const place = document.getElementById("chosen");
    const [code, link] = ["code", "a"].map((tag) => document.createElement(tag));
    code.textContent = `freefloat campaign replay ${this.folder} ${run}`;
    Object.assign(link, { href: `replays/${String(run).padStart(8, "0")}/page.html`, textContent: "its page, once it is there" });
    place.replaceChildren(`Run ${run}: `, code, " · ", link);
    navigator.clipboard?.writeText(code.textContent).catch(() => {});
    place.scrollIntoView({ block: "nearest" });
  }

  async settled(plot) {
    const { runs, value, low, high } = this.convergence;
    const figure = pageFigure({ height: 260, min_border_left: 56, x_axis_type: "log", tools: "pan,box_zoom,reset,save" });
    figure.below[0].axis_label = plainText("runs");
    figure.left[0].axis_label = plainText("probability of success");
    const source = new Bokeh.ColumnDataSource({ data: { runs: [...runs], value: [...value], low: [...low], high: [...high] } });
    figure.varea({ x: { field: "runs" }, y1: { field: "low" }, y2: { field: "high" }, source, fill_color: this.colour(0), fill_alpha: 0.2 });
    figure.line({ field: "runs" }, { field: "value" }, { source, line_color: this.colour(0), line_width: 2 });
    await putFigure(plot, figure);
  }
}

requestAnimationFrame(() => setTimeout(async () => {
  try {
    window.freefloat = new CampaignPage(await contentsOf("contents"));
    await window.freefloat.open();
  } catch (fault) {
    document.getElementById("chosen").textContent = `This page could not start: ${fault.message}`;
    throw fault;
  }
}));
