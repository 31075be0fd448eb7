// What all plots share: one look for figures, in the colours of the page, and their place on it.

const COLOURS = {
  light: ["#2563a8", "#c2410c", "#2e7d4f", "#8e4ec6", "#a16207", "#0e7490", "#be185d", "#52525b"],
  dark: ["#6cb0f5", "#fb923c", "#6bcf8e", "#c4a1f0", "#e5c05b", "#4fd1dd", "#f382b5", "#b4b4bd"],
};

function pageColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function pageFigure(options) {
  const figure = Bokeh.Plotting.figure({
    sizing_mode: "stretch_width", min_border_right: 8, min_border_top: 6, toolbar_location: "right", output_backend: "canvas",
    background_fill_alpha: 0, border_fill_alpha: 0, outline_line_color: null, ...options,
  });
  figure.toolbar.logo = null;
  figure.toolbar.autohide = true;
  const [ink, rule] = [pageColour("ink-soft"), pageColour("rule")];
  for (const axis of [...figure.below, ...figure.left])
    axis.setv({
      axis_line_color: rule, major_tick_line_color: rule, minor_tick_line_color: null, major_label_text_color: ink,
      major_label_text_font_size: "11px", axis_label_text_color: ink, axis_label_text_font_size: "12px", axis_label_text_font_style: "normal",
    });
  for (const grid of figure.center) grid.setv({ grid_line_color: rule, grid_line_alpha: 0.6 });
  return figure;
}

// A name may hold anything, and Bokeh would read some of it as mathematics.
function plainText(text) {
  return new Bokeh.PlainText({ text });
}

// Puts a figure where an old one stood; `plot` keeps its document and its view.
async function putFigure(plot, figure) {
  plot.document?.clear();
  plot.stage.replaceChildren();
  plot.document = new Bokeh.Document();
  plot.document.add_root(figure);
  plot.figure = figure;
  const views = await Bokeh.embed.add_document_standalone(plot.document, plot.stage);
  plot.view = views.get_by_id ? views.get_by_id(figure.id) : [...views][0];
}

// Where the pointer is in the numbers of a plot, or null outside its frame.
function pointed(plot, event) {
  const box = plot.stage.getBoundingClientRect();
  const { frame } = plot.view;
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const { left, right, top, bottom } = frame.bbox;
  if (x < left || x > right || y < top || y > bottom) return null;
  return [frame.x_scale.invert(x), frame.y_scale.invert(y)];
}

function swatch(colour, kind = "solid") {
  const mark = document.createElement("i");
  if (kind === "dot") Object.assign(mark.style, { width: "9px", height: "9px", borderRadius: "50%", background: colour, verticalAlign: "0" });
  else mark.style.borderTop = `2.5px ${kind} ${colour}`;
  return mark;
}

function figures(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e6) return value.toExponential(2);
  return value.toFixed(Math.max(0, Math.min(4, 4 - Math.floor(Math.log10(size)))));
}

function withUnit(value, unit) {
  return `${figures(value)}${unit && unit !== "1" ? ` ${unit}` : ""}`;
}
