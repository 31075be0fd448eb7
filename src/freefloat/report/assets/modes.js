// Modes of a spacecraft in motion: one chosen mode swings, the spacecraft at rest stands behind it as a ghost.

const SWING = 2.4; // seconds of one swing on the screen, whatever the frequency

class Modes {
  constructor(contents, theme) {
    this.byId = (id) => document.getElementById(id);
    this.contents = contents;
    this.count = contents.modes.length;
    this.chosen = Math.max(0, contents.modes.findIndex((mode) => mode.frequency > 1e-9));
    this.phase = Math.PI / 2;
    this.playing = false;
    this.openScene(theme);
    this.controls();
    this.choose(this.chosen);
  }

  openScene(theme) {
    const box = this.byId("scene");
    if (!this.contents.scene) {
      box.dataset.message = "No spacecraft was given with this model, so its modes are not drawn. Give craft=... and motion=...";
      return;
    }
    const { scene } = this.contents;
    this.rest = { position: scene.position.slice(), attitude: scene.attitude.slice() };
    try {
      this.scene = new Scene(this.byId("canvas"), this.byId("labels"), [{ name: "", scene, events: [], channels: [] }]);
    } catch (fault) {
      box.dataset.message = `The 3-D view cannot be shown: ${fault.message}.`;
      return;
    }
    this.scene.theme = theme;
    Object.assign(this.scene.shown, { trails: false, vectors: false, goal: false });
    const views = { whole: [-0.72, 0.42], front: [0, 0.02], side: [-Math.PI / 2, 0.02], top: [-Math.PI / 2, 1.55] };
    for (const button of document.querySelectorAll("[data-view]"))
      button.addEventListener("click", () => this.scene.camera.look(...views[button.dataset.view]));
    this.scene.underlay = () => this.byId("ghost").checked && this.ghost();
  }

  controls() {
    const select = this.byId("mode");
    this.contents.modes.forEach((mode, k) => {
      const option = document.createElement("option");
      option.value = String(k);
      option.textContent = mode.name;
      select.append(option);
    });
    select.addEventListener("change", () => this.choose(Number(select.value)));
    this.byId("earlier").addEventListener("click", () => this.choose((this.chosen + this.count - 1) % this.count));
    this.byId("later").addEventListener("click", () => this.choose((this.chosen + 1) % this.count));
    this.byId("play").addEventListener("click", () => this.play(!this.playing));
    for (const id of ["amplitude", "ghost"]) this.byId(id).addEventListener("input", () => this.draw());
    for (const row of document.querySelectorAll("tr[data-mode]"))
      row.addEventListener("click", () => this.choose(Number(row.dataset.mode)));
  }

  choose(k) {
    this.chosen = k;
    this.byId("mode").value = String(k);
    for (const row of document.querySelectorAll("tr[data-mode]")) row.classList.toggle("chosen", Number(row.dataset.mode) === k);
    document.querySelector("tr.chosen")?.scrollIntoView({ block: "nearest" });
    const { frequency } = this.contents.modes[k];
    const period = frequency > 1e-9 ? `one swing lasts ${figures((2 * Math.PI) / frequency)} s, shown in ${SWING} s` : "it does not swing";
    this.byId("drawn").textContent = this.scene ? `Mode ${k + 1}: ${period}.` : "";
    this.draw();
    this.onChoice?.(k);
  }

  play(on) {
    this.playing = on && Boolean(this.scene);
    this.byId("play").textContent = on ? "❚❚" : "►";
    this.byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (!this.playing) return;
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.phase += (2 * Math.PI * (now - last)) / (1000 * SWING);
      last = now;
      this.draw();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  // Everything where the mode has it at this phase.
  place(size) {
    const { scene } = this.contents;
    const { shift, turn, bends } = scene.modes[this.chosen];
    for (let i = 0; i < shift.length; i++) scene.position[i] = this.rest.position[i] + size * shift[i];
    for (let k = 0; k < scene.bodies.length; k++) {
      const small = [0, 1, 2].map((i) => size * turn[3 * k + i]);
      scene.attitude.set(turned(small, this.rest.attitude.subarray(4 * k, 4 * k + 4)), 4 * k);
    }
    scene.flexible.forEach((line, j) => { for (let i = 0; i < bends[j].length; i++) line.displacement[i] = size * bends[j][i]; });
  }

  draw() {
    if (!this.scene) return;
    this.size = Number(this.byId("amplitude").value) * this.contents.scene.radius * Math.sin(this.phase);
    this.place(this.size);
    this.scene.draw();
  }

  ghost() {
    const [run] = this.scene.runs;
    this.place(0);
    this.scene.renderBodies(run, 0, 0.14, 0);
    for (const line of run.scene.flexible) this.scene.renderFlexible(run, line, 0.22);
    this.place(this.size);
  }

  setTheme(theme) {
    if (!this.scene) return;
    this.scene.theme = theme;
    this.scene.draw();
  }
}

// A scalar-first quaternion turned by a rotation vector in the outer axes.
function turned(vector, q) {
  const angle = length3(vector);
  const s = angle > 1e-12 ? Math.sin(angle / 2) / angle : 0.5;
  const [w, x, y, z] = [Math.cos(angle / 2), ...times3(vector, s)];
  const [a, b, c, d] = q;
  return [w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a];
}
