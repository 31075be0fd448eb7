// The picture: bodies, trails, frames and vectors of one or several runs at an instant, drawn with plain WebGL.

const TONES = {
  light: { bus: "#d9b45b", panel: "#2b4a86", arm: "#e9ecf1", joint: "#7d8794", hand: "#4a5563", tank: "#b9c0ca", antenna: "#eef0f3", target: "#b7a7d6", trail: "#c2410c", flexible: "#2b4a86" },
  dark: { bus: "#d2a94c", panel: "#4468b4", arm: "#dfe4ea", joint: "#8b96a5", hand: "#a9b4c2", tank: "#9aa4b1", antenna: "#e4e8ed", target: "#a998d0", trail: "#fb923c", flexible: "#6f92d8" },
};
const RUN_TINTS = [null, "#0f9d8a", "#b3368f", "#8a6d00"]; // second and later runs of a comparison
const AXES = ["#d64545", "#3f9b4f", "#3b72d9"];

class Scene extends Painter {
  constructor(canvas, labels, runs) {
    super(canvas);
    this.labels = labels;
    this.runs = runs.filter((run) => run.scene);
    this.shown = { trails: true, frames: false, vectors: true, goal: true, ghost: false, follow: false };
    this.stretch = 1;
    this.theme = "light";
    this.time = 0;
    const first = this.runs[0].scene;
    this.camera = new Camera(canvas, first.centre, first.radius, () => this.draw());
    this.build();
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  // ---- making things

  build() {
    const zero = this.runs[0].scene.origin;
    this.arrow = this.mesh(...arrowTriangles());
    this.axes = [0, 1, 2].map((i) => this.ribbon(new Float32Array([0, 0, 0, ...[0, 1, 2].map((j) => (i === j ? 1 : 0))])));
    for (const run of this.runs) {
      const scene = run.scene;
      run.shift = minus(scene.origin, zero);
      run.meshes = scene.parts.map((part) => ({ ...this.mesh(part.vertices, part.normals, part.faces), part }));
      run.trails = scene.tracks.map((track) => this.ribbon(track.position, scene.time));
    }
    const first = this.runs[0].scene;
    const { ball, cone } = first;
    this.marks = { ball: this.mesh(ball.vertices, ball.normals, ball.faces), cone: this.mesh(cone.vertices, cone.normals, cone.faces) };
    this.labelled = [
      ...first.tracks.map((track) => this.label(track.name, "frames", () => this.tracked(this.runs[0], track)[1])),
      ...first.goals.map((goal) => this.label(goal.name, "goal", () => this.at(this.runs[0], goal.position))),
      ...first.arrows.map((arrow) => this.label(arrow.label, "vectors", () => this.tip(this.runs[0], arrow))),
    ];
  }

  label(text, when, place) {
    const made = document.createElement("span");
    made.textContent = text;
    made.hidden = true;
    this.labels.append(made);
    return { made, when, place };
  }

  // ---- where things are now

  static body(scene, index, t) {
    const bodies = scene.bodies.length;
    return Scene.pose(scene, scene.position, scene.attitude, bodies, index, t);
  }

  static pose(scene, position, attitude, width, index, t) {
    const [row, part] = between(scene.time, t);
    const next = Math.min(row + 1, scene.time.length - 1);
    const mix = (values, size) => {
      const [a, b] = [(row * width + index) * size, (next * width + index) * size];
      return Array.from({ length: size }, (_, i) => values[a + i] + part * (values[b + i] - values[a + i]));
    };
    const q = mix(attitude, 4);
    const norm = Math.hypot(...q) || 1;
    return [q.map((x) => x / norm), mix(position, 3)];
  }

  placed(run, pose) {
    return poseMatrix(pose[0], add(pose[1], run.shift));
  }

  // ---- drawing

  setTime(t) {
    this.time = t;
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.render();
    });
  }

  render() {
    const { gl, canvas } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const first = this.runs[0];
    const [, now] = Scene.body(first.scene, 0, this.time);
    const shift = this.shown.follow ? now : [0, 0, 0];
    this.seen = this.camera.matrix(width / height, shift);
    this.eye = add(this.camera.eye(), shift);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.runs.forEach((run, number) => this.renderRun(run, number));
    this.underlay?.();
    if (this.shown.ghost) this.renderBodies(first, first.scene.time[0], 0.16, 0);
    this.renderLabels();
    this.frames = (this.frames || 0) + 1;
  }

  renderRun(run, number) {
    this.renderBodies(run, this.time, number ? 0.45 : 1, number);
    const scale = run.scene.radius;
    const tone = rgb(RUN_TINTS[number % RUN_TINTS.length] || TONES[this.theme].trail);
    if (this.shown.trails)
      for (const trail of run.trails) this.renderLine(trail, poseMatrix([1, 0, 0, 0], run.shift), tone, 2.2, 0.25);
    for (const line of run.scene.flexible) this.renderFlexible(run, line);
    if (this.shown.frames) {
      this.renderAxes(poseMatrix([1, 0, 0, 0], [0, 0, 0]), 0.3 * scale);
      for (const track of run.scene.tracks) this.renderAxes(this.placed(run, this.tracked(run, track)), 0.14 * scale);
    }
    if (this.shown.vectors) for (const arrow of run.scene.arrows) this.renderArrow(run, arrow);
    if (this.shown.frames)
      for (const track of run.scene.tracks.filter((t) => /camera/i.test(t.name)))
        this.renderMark(this.marks.cone, this.placed(run, this.tracked(run, track)), 0.4 * scale, "#3b72d9", 0.18);
    if (this.shown.goal)
      for (const goal of run.scene.goals)
        this.renderMark(this.marks.ball, poseMatrix([1, 0, 0, 0], add(this.at(run, goal.position), run.shift)), 0.035 * scale, TONES[this.theme].target, 0.75);
  }

  // The value of a vector history now.
  at(run, values) {
    const still = new Float32Array(4 * run.scene.time.length);
    return Scene.pose(run.scene, values, still, 1, 0, this.time)[1];
  }

  renderMark(mesh, model, size, tone, alpha) {
    const scaled = Float32Array.from(model, (x, i) => (i < 12 ? x * size : x));
    this.renderMesh(mesh, scaled, rgb(tone), alpha);
  }

  tracked(run, track) {
    return Scene.pose(run.scene, track.position, track.attitude, 1, 0, this.time);
  }

  renderBodies(run, t, alpha, number) {
    const { gl } = this;
    if (alpha < 1) {
      gl.depthMask(false);
      gl.enable(gl.POLYGON_OFFSET_FILL); // where a ghost coincides with the real thing, the real thing is seen
      gl.polygonOffset(1, 4);
    }
    const tint = RUN_TINTS[number % RUN_TINTS.length];
    for (const mesh of run.meshes) {
      const role = mesh.part.colour;
      const tone = tint || TONES[this.theme][role] || (/^#[0-9a-f]{6}$/i.test(role) ? role : TONES[this.theme].tank);
      this.renderMesh(mesh, this.placed(run, Scene.body(run.scene, mesh.part.body, t)), rgb(tone), alpha);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.depthMask(true);
  }

  renderAxes(model, size) {
    const scaled = Float32Array.from(model, (x, i) => (i < 12 ? x * size : x));
    this.axes.forEach((axis, i) => this.renderLine(axis, scaled, rgb(AXES[i]), 2.5));
  }

  // A vector as drawn: the largest of a run is 0.8 radii long.
  drawn(run, arrow) {
    return times3(this.at(run, arrow.value), (0.8 * run.scene.radius) / arrow.largest);
  }

  // Where its label stands; nowhere while it is too short to be seen.
  tip(run, arrow) {
    if (length3(this.drawn(run, arrow)) < 0.02 * run.scene.radius) return null;
    return add(this.at(run, arrow.start), this.drawn(run, arrow));
  }

  renderArrow(run, arrow) {
    const value = this.drawn(run, arrow);
    const thickness = 0.04 * run.scene.radius;
    if (length3(value) < 0.1 * thickness) return;
    const model = arrowMatrix(add(this.at(run, arrow.start), run.shift), value, length3(value), thickness);
    this.renderMesh(this.arrow, model, rgb("#b3368f"), 0.9);
  }

  // A bending body: its points at rest, displaced as recorded times the stretch that the reader chose.
  renderFlexible(run, line, alpha = 1) {
    const [row, part] = between(run.scene.time, this.time);
    const size = line.points.length;
    const next = Math.min(row + 1, run.scene.time.length - 1);
    const points = line.points.map((x, i) => {
      const [a, b] = [line.displacement[row * size + i], line.displacement[next * size + i]];
      return x + this.stretch * (a + part * (b - a));
    });
    if (line.faces) return this.renderSkin(run, line, points, alpha);
    const ribbon = this.ribbon(points);
    this.renderLine(ribbon, this.placed(run, Scene.body(run.scene, line.body, this.time)), rgb(TONES[this.theme].flexible), 7, 1, alpha);
    this.gl.deleteBuffer(ribbon.data);
  }

  // Its triangles as they are bent now, from both sides.
  renderSkin(run, { faces, colour, body }, points, alpha) {
    const { gl } = this;
    const [vertices, normals] = [new Float32Array(6 * faces.length), new Float32Array(6 * faces.length)];
    for (let f = 0; f < faces.length; f += 3) {
      const corners = [0, 1, 2].map((i) => points.subarray(3 * faces[f + i], 3 * faces[f + i] + 3));
      const normal = unit3(cross3(minus(corners[1], corners[0]), minus(corners[2], corners[0])));
      [[0, 1, 2], [0, 2, 1]].forEach((order, side) => order.forEach((i, place) => {
        const at = 3 * (2 * f + 3 * side + place);
        vertices.set(corners[i], at);
        normals.set(side ? times3(normal, -1) : normal, at);
      }));
    }
    const mesh = { vertices: this.buffer(vertices), normals: this.buffer(normals), faces: null, count: 2 * faces.length };
    if (alpha < 1) gl.depthMask(false);
    this.renderMesh(mesh, this.placed(run, Scene.body(run.scene, body, this.time)), rgb(TONES[this.theme][colour] || TONES[this.theme].flexible), alpha);
    gl.depthMask(true);
    gl.deleteBuffer(mesh.vertices);
    gl.deleteBuffer(mesh.normals);
  }

  renderLabels() {
    for (const { made, when, place } of this.labelled) {
      made.hidden = !this.shown[when];
      if (made.hidden) continue;
      const at = place();
      made.hidden = !at;
      if (!at) continue;
      const [x, y, , w] = clip(this.seen, at);
      made.hidden = w <= 0 || Math.abs(x) > w || Math.abs(y) > w;
      made.style.left = `${50 + (50 * x) / w}%`;
      made.style.top = `${50 - (50 * y) / w}%`;
    }
  }
}
