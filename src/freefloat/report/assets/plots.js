// Plots of channels over time, drawn by Bokeh; all share the time axis and one cursor.

const DASHES = ["solid", "dashed", "dotted", "dotdash"];

class Plots {
  constructor(container, contents, moved) {
    Object.assign(this, { container, runs: contents.runs, moved, open: new Map(), theme: "light", time: 0 });
    const ends = this.runs.flatMap((run) => run.channels.map((c) => [c.time[0], c.time[c.time.length - 1]]));
    this.range = [Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1]))];
    if (!(this.range[1] > this.range[0])) this.range[1] = this.range[0] + 1;
  }

  // The same channel of every run that has it.
  curves(name) {
    return this.runs.flatMap((run, number) => {
      const channel = run.channels.find((c) => c.name === name);
      return channel ? [{ ...channel, run: run.name, number }] : [];
    });
  }

  async show(name) {
    const curves = this.curves(name);
    if (this.open.has(name) || !curves.length) return;
    const card = document.createElement("section");
    card.className = "plot";
    card.dataset.channel = name;
    this.container.append(card);
    const plot = { name, curves, card, hidden: new Set() };
    this.open.set(name, plot);
    this.heading(plot);
    await this.draw(plot);
  }

  hide(name) {
    const plot = this.open.get(name);
    if (!plot) return;
    plot.document?.clear();
    plot.card.remove();
    this.open.delete(name);
  }

  heading(plot) {
    const [first] = plot.curves;
    const head = document.createElement("header");
    const title = document.createElement("h3");
    title.textContent = first.label;
    const unit = document.createElement("span");
    unit.className = "unit";
    unit.textContent = [first.unit && `[${first.unit}]`, first.frame && `axes ${first.frame}`].filter(Boolean).join(" · ");
    const name = document.createElement("code");
    name.textContent = plot.name;
    head.append(title, unit, name);
    if (first.faults) {
      const fault = document.createElement("span");
      fault.className = "bad";
      fault.textContent = `${first.faults} samples are not finite: gaps`;
      head.append(fault);
    }
    const leftOut = plot.curves.filter((curve) => curve.leftOut);
    if (leftOut.length) {
      const note = document.createElement("span");
      note.className = "note";
      note.textContent = leftOut.map((curve) => [curve.run, curve.leftOut].filter(Boolean).join(": ")).join("; ");
      head.append(note);
    }
    const close = document.createElement("button");
    Object.assign(close, { className: "quiet", textContent: "×", title: "Close this plot", type: "button" });
    close.setAttribute("aria-label", `Close ${first.label}`);
    close.addEventListener("click", () => this.hide(plot.name));
    head.append(close);
    plot.legend = document.createElement("ul");
    plot.stage = document.createElement("div");
    plot.stage.className = "stage";
    plot.card.replaceChildren(head, plot.stage, plot.legend);
  }

  colour(component) {
    const colours = COLOURS[this.theme];
    return colours[component % colours.length];
  }

  async draw(plot) {
    const figure = pageFigure({
      height: 168, min_border_left: 64, tools: "xpan,xbox_zoom,ybox_zoom,reset,save",
      x_range: new Bokeh.Range1d({ start: this.range[0], end: this.range[1], bounds: [...this.range] }),
    });
    figure.below[0].formatter = new Bokeh.PrintfTickFormatter({ format: "%.8g s" });
    figure.left[0].formatter = new Bokeh.PrintfTickFormatter({ format: "%.8g" });
    plot.lines = [];
    for (const curve of plot.curves) this.lines(plot, figure, curve);
    for (const event of this.runs.flatMap((run) => run.events))
      figure.add_layout(new Bokeh.Span({ location: event.time, dimension: "height", line_color: pageColour("ink-soft"), line_dash: "dotted" }));
    plot.cursor = new Bokeh.Span({ location: this.time, dimension: "height", line_color: pageColour("accent"), line_width: 1.5 });
    figure.add_layout(plot.cursor);
    await putFigure(plot, figure);
    this.follow(plot);
    this.legend(plot);
  }

  lines(plot, figure, curve) {
    const width = curve.components.length;
    curve.components.forEach((component, j) => {
      const y = new Float64Array(curve.time.length);
      for (let i = 0; i < y.length; i++) y[i] = curve.offset[j] + curve.values[i * width + j];
      const source = new Bokeh.ColumnDataSource({ data: { x: curve.time, y } });
      const line = figure.line({ field: "x" }, { field: "y" }, {
        source, line_color: this.colour(j), line_width: 1.7, line_dash: DASHES[curve.number % DASHES.length],
      });
      const label = [curve.run, component].filter(Boolean).join(" ");
      const key = `${curve.number}/${j}`;
      line.visible = !plot.hidden.has(key);
      plot.lines.push({ key, label, line, curve, y, colour: this.colour(j) });
    });
  }

  // Each line with its colour and its value at the cursor; a click hides it.
  legend(plot) {
    plot.legend.replaceChildren(...plot.lines.map((entry) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(entry.line.visible));
      entry.value = document.createElement("output");
      button.append(swatch(entry.colour, entry.curve.number ? "dashed" : "solid"), document.createTextNode(entry.label ? `${entry.label} ` : ""), entry.value);
      button.addEventListener("click", () => {
        entry.line.visible = !entry.line.visible;
        button.setAttribute("aria-pressed", String(entry.line.visible));
        if (entry.line.visible) plot.hidden.delete(entry.key);
        else plot.hidden.add(entry.key);
      });
      item.append(button);
      return item;
    }));
    this.readings(plot);
  }

  readings(plot) {
    for (const entry of plot.lines) {
      const { time } = entry.curve;
      const [row, part] = between(time, this.time);
      const next = Math.min(row + 1, entry.y.length - 1);
      const known = this.time >= time[0] - 1e-9 && this.time <= time[time.length - 1] + 1e-9;
      const value = known ? entry.y[row] + part * (entry.y[next] - entry.y[row]) : NaN;
      entry.value.textContent = Number.isFinite(value) ? withUnit(value, entry.curve.unit) : "–";
    }
  }

  // The pointer over any plot is the cursor of all of them and of the scene.
  follow(plot) {
    const frame = plot.view.frame;
    plot.stage.addEventListener("pointermove", (event) => {
      if (event.buttons) return;
      const left = plot.stage.getBoundingClientRect().left;
      const x = event.clientX - left;
      const { left: low, right: high } = frame.bbox;
      if (x < low || x > high) return;
      this.moved(frame.x_scale.invert(x));
    });
    const share = () => {
      if (this.sharing) return;
      this.sharing = true;
      const { start, end } = plot.figure.x_range;
      for (const other of this.open.values()) if (other !== plot && other.figure) other.figure.x_range.setv({ start, end });
      this.sharing = false;
    };
    for (const end of ["start", "end"]) plot.figure.x_range.properties[end].change.connect(share);
  }

  setTime(t) {
    this.time = t;
    for (const plot of this.open.values()) {
      if (!plot.cursor || !plot.view) continue;
      plot.cursor.location = t;
      this.readings(plot);
    }
  }

  async setTheme(theme) {
    this.theme = theme;
    for (const plot of this.open.values()) await this.draw(plot);
  }
}
