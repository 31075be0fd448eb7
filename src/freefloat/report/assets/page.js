// The page: one time that play, slider, scene and plots share.

class Page {
  constructor(contents) {
    this.contents = contents;
    this.speed = 1;
    this.playing = false;
    this.byId = (id) => document.getElementById(id);
  }

  async open() {
    const timed = this.contents.runs.flatMap((run) => [run.scene?.time, ...run.channels.map((c) => c.time)]).filter((t) => t?.length);
    this.start = timed.length ? Math.min(...timed.map((t) => t[0])) : 0;
    this.end = timed.length ? Math.max(...timed.map((t) => t[t.length - 1])) : 1;
    this.time = this.start;
    this.theme = chosenTheme();
    this.openScene();
    this.controls();
    this.setTime(this.start);
    this.plots = new Plots(this.byId("plots"), this.contents, (t) => this.playing || this.setTime(t));
    this.picker();
    await runScript("plotting");
    Bokeh.logger?.set_level?.("off");
    this.plots.theme = this.theme;
    for (const name of this.contents.figures) await this.plots.show(name);
    this.setTime(this.time);
    this.scatters = new Scatters(this.contents.scatters);
    await this.scatters.setTheme(this.theme);
    document.documentElement.dataset.ready = "true";
  }

  // ---- time

  setTime(t) {
    this.time = Math.max(this.start, Math.min(this.end, t));
    this.byId("time").value = String((this.time - this.start) / (this.end - this.start || 1));
    this.byId("clock").textContent = `${this.time.toFixed(2)} s`;
    this.scene?.setTime(this.time);
    this.plots?.setTime(this.time);
  }

  play(on) {
    this.playing = on;
    this.byId("play").textContent = on ? "❚❚" : "►";
    this.byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    if (this.time >= this.end) this.setTime(this.start);
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.setTime(this.time + ((now - last) / 1000) * this.speed);
      last = now;
      if (this.time >= this.end) this.play(false);
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  // ---- scene

  openScene() {
    const runs = this.contents.runs;
    const box = this.byId("scene");
    if (!runs.some((run) => run.scene)) {
      box.dataset.message = "This run does not say what it looks like, so there is nothing to draw.";
      return;
    }
    try {
      this.scene = new Scene(this.byId("canvas"), this.byId("labels"), runs);
    } catch (fault) {
      box.dataset.message = `The 3-D view cannot be shown: ${fault.message}.`;
      return;
    }
    this.scene.theme = this.theme;
    const first = this.scene.runs[0].scene;
    const count = first.time.length;
    const base = (row) => [...first.position.subarray(3 * row * first.bodies.length, 3 * row * first.bodies.length + 3)];
    this.scene.shown.follow = length3(minus(base(count - 1), base(0))) > 0.5 * first.radius;
    this.chooseStretch(first);
    const absent = { vectors: !this.scene.runs.some((r) => r.scene.arrows.length), goal: !this.scene.runs.some((r) => r.scene.goals.length), frames: !first.tracks.length, trails: !first.tracks.length };
    for (const toggle of document.querySelectorAll("[data-show]")) {
      const what = toggle.dataset.show;
      toggle.closest("label").hidden = Boolean(absent[what]);
      toggle.checked = this.scene.shown[what];
      toggle.addEventListener("change", () => {
        this.scene.shown[what] = toggle.checked;
        this.scene.draw();
      });
    }
    const views = { whole: [-0.72, 0.42], front: [0, 0.02], side: [-Math.PI / 2, 0.02], top: [-Math.PI / 2, 1.55] };
    for (const button of document.querySelectorAll("[data-view]"))
      button.addEventListener("click", () => this.scene.camera.look(...views[button.dataset.view]));
  }

  // Bending is drawn as large as it is easily seen; how large stands beside the picture.
  chooseStretch(scene) {
    const field = this.byId("stretch");
    this.byId("stretch-field").hidden = !this.scene.runs.some((run) => run.scene.flexible.length);
    const largest = Math.max(0, ...scene.flexible.map((line) => line.displacement.reduce((m, x) => Math.max(m, Math.abs(x)), 0)));
    const fitting = [...field.options].map((option) => Number(option.value)).filter((f) => f * largest <= 0.25 * scene.radius);
    this.scene.stretch = largest > 0 && fitting.length ? Math.max(...fitting) : 1;
    field.value = String(this.scene.stretch);
  }

  // ---- controls

  controls() {
    this.byId("play").addEventListener("click", () => this.play(!this.playing));
    this.byId("time").addEventListener("input", (event) => {
      this.play(false);
      this.setTime(this.start + Number(event.target.value) * (this.end - this.start));
    });
    // A replay should last less than a minute.
    const speeds = [...this.byId("speed").options].map((option) => Number(option.value));
    this.speed = Math.max(1, speeds.find((speed) => speed >= (this.end - this.start) / 50) ?? speeds.at(-1));
    this.byId("speed").value = String(this.speed);
    this.byId("speed").addEventListener("change", (event) => { this.speed = Number(event.target.value); });
    this.byId("stretch").addEventListener("change", (event) => {
      if (!this.scene) return;
      this.scene.stretch = Number(event.target.value);
      this.scene.draw();
    });
    themeControls(this);
    document.addEventListener("keydown", (event) => {
      if (event.key !== " " || /^(INPUT|SELECT|BUTTON|TEXTAREA)$/.test(event.target.tagName)) return;
      event.preventDefault();
      this.play(!this.playing);
    });
  }

  picker() {
    const list = this.byId("channels");
    const names = new Map(this.contents.runs.flatMap((run) => run.channels.map((c) => [c.name, c])));
    for (const [name, channel] of names) {
      const option = document.createElement("option");
      option.value = name;
      option.textContent = `${channel.label}${channel.unit ? ` [${channel.unit}]` : ""}`;
      list.append(option);
    }
    const pick = this.byId("pick");
    pick.addEventListener("change", async () => {
      if (!names.has(pick.value)) return;
      const name = pick.value;
      pick.value = "";
      await this.plots.show(name);
      this.plots.open.get(name)?.card.scrollIntoView({ block: "nearest" });
    });
  }

  // ---- light and dark

  async drawTheme(theme) {
    if (this.scene) {
      this.scene.theme = theme;
      this.scene.draw();
    }
    await this.plots?.setTheme(theme);
    await this.scatters?.setTheme(theme);
  }
}

// The words are painted first; then the picture is made.
requestAnimationFrame(() => setTimeout(async () => {
  try {
    window.freefloat = new Page(await contentsOf("contents"));
    await window.freefloat.open();
  } catch (fault) {
    document.getElementById("scene").dataset.message = `This page could not start: ${fault.message}`;
    throw fault;
  }
}));
