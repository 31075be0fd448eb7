// The page of a verdict: all its plots are open, with one cursor.

class VerdictPage {
  constructor(contents) {
    this.contents = contents;
  }

  async open() {
    this.theme = chosenTheme();
    themeControls(this);
    if (this.contents.runs.length) {
      await runScript("plotting");
      Bokeh.logger?.set_level?.("off");
      this.plots = new Plots(document.getElementById("plots"), this.contents, (t) => this.plots.setTime(t));
      this.plots.theme = this.theme;
      this.plots.time = this.plots.range[1];
      for (const name of this.contents.figures) await this.plots.show(name);
    } else document.getElementById("curves").hidden = true;
    document.documentElement.dataset.ready = "true";
  }

  async drawTheme(theme) {
    await this.plots?.setTheme(theme);
  }
}

requestAnimationFrame(() => setTimeout(async () => {
  try {
    window.freefloat = new VerdictPage(await contentsOf("contents"));
    await window.freefloat.open();
  } catch (fault) {
    document.getElementById("plots").textContent = `The plots could not be drawn: ${fault.message}`;
    throw fault;
  }
}));
