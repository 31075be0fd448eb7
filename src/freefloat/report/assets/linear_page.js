// The page of a linear model: the chosen mode is one for picture, table, pole map and damping.

class LinearPage {
  constructor(contents) {
    this.contents = contents;
  }

  async open() {
    this.theme = chosenTheme();
    themeControls(this);
    this.modes = new Modes(this.contents, this.theme);
    this.modes.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    this.responses = new Responses(this.contents, (k) => this.modes.choose(k));
    this.responses.marked = this.modes.chosen;
    this.modes.onChoice = (k) => this.responses.mark(k);
    await runScript("plotting");
    Bokeh.logger?.set_level?.("off");
    await this.responses.setTheme(this.theme);
    document.documentElement.dataset.ready = "true";
  }

  async drawTheme(theme) {
    this.modes.setTheme(theme);
    await this.responses.setTheme(theme);
  }
}

requestAnimationFrame(() => setTimeout(async () => {
  try {
    window.freefloat = new LinearPage(await contentsOf("contents"));
    await window.freefloat.open();
  } catch (fault) {
    document.getElementById("scene").dataset.message = `This page could not start: ${fault.message}`;
    throw fault;
  }
}));
