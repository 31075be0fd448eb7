// The picture: bodies, trails, frames and vectors of one or several runs at an instant, drawn with plain WebGL.

const SOLID_VERTEX = `
attribute vec3 position, normal; uniform mat4 seen, model; varying vec3 n, at;
void main() { vec4 world = model * vec4(position, 1.0); n = mat3(model) * normal; at = world.xyz; gl_Position = seen * world; }`;
const SOLID_FRAGMENT = `
precision mediump float; varying vec3 n, at; uniform vec3 colour, eye; uniform float alpha;
void main() {
  vec3 unit = normalize(n), view = normalize(eye - at);
  float key = max(dot(unit, normalize(vec3(0.45, -0.6, 0.75))), 0.0), fill = max(dot(unit, view), 0.0);
  vec3 halfway = normalize(view + normalize(vec3(0.45, -0.6, 0.75)));
  float shine = pow(max(dot(unit, halfway), 0.0), 40.0) * 0.22, sky = 0.5 + 0.5 * unit.z;
  gl_FragColor = vec4((colour * (0.34 + 0.12 * sky + 0.42 * key + 0.22 * fill) + shine) * alpha, alpha);
}`;
const LINE_VERTEX = `
attribute vec3 here, there; attribute vec2 corner; attribute float when; uniform mat4 seen, model; uniform vec2 size; uniform float width; varying float at;
void main() {
  vec4 a = seen * model * vec4(here, 1.0), b = seen * model * vec4(there, 1.0);
  vec2 along = (b.xy / b.w - a.xy / a.w) * size; along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
  gl_Position = a; gl_Position.xy += vec2(-along.y, along.x) * corner.x * corner.y * width / size * a.w; at = when;
}`;
const LINE_FRAGMENT = `
precision mediump float; uniform vec3 colour; uniform float alpha, now, faint; varying float at;
void main() { float a = alpha * (at <= now ? 1.0 : faint); gl_FragColor = vec4(colour * a, a); }`;

const TONES = {
  light: { bus: "#d9b45b", panel: "#2b4a86", arm: "#e9ecf1", joint: "#7d8794", hand: "#4a5563", tank: "#b9c0ca", antenna: "#eef0f3", target: "#b7a7d6", trail: "#c2410c", flexible: "#2b4a86" },
  dark: { bus: "#d2a94c", panel: "#4468b4", arm: "#dfe4ea", joint: "#8b96a5", hand: "#a9b4c2", tank: "#9aa4b1", antenna: "#e4e8ed", target: "#a998d0", trail: "#fb923c", flexible: "#6f92d8" },
};
const RUN_TINTS = [null, "#0f9d8a", "#b3368f", "#8a6d00"]; // second and later runs of a comparison
const AXES = ["#d64545", "#3f9b4f", "#3b72d9"];
const rgb = (hex) => [1, 3, 5].map((i) => (parseInt(hex.slice(i, i + 2), 16) || 0) / 255);

class Scene {
  constructor(canvas, labels, runs) {
    this.canvas = canvas;
    this.labels = labels;
    this.runs = runs.filter((run) => run.scene);
    this.shown = { trails: true, frames: false, vectors: true, ghost: false, follow: false };
    this.stretch = 1;
    this.theme = "light";
    this.time = 0;
    this.gl = canvas.getContext("webgl", { antialias: true, alpha: true, preserveDrawingBuffer: true });
    if (!this.gl) throw new Error("WebGL is not available");
    const first = this.runs[0].scene;
    this.camera = new Camera(canvas, first.centre, first.radius, () => this.draw());
    this.solid = this.program(SOLID_VERTEX, SOLID_FRAGMENT);
    this.line = this.program(LINE_VERTEX, LINE_FRAGMENT);
    this.build();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  // ---- making things

  program(vertex, fragment) {
    const gl = this.gl;
    const made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    const found = { program: made };
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_ATTRIBUTES); i++) {
      const { name } = gl.getActiveAttrib(made, i);
      found[name] = gl.getAttribLocation(made, name);
    }
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(made, i);
      found[name] = gl.getUniformLocation(made, name);
    }
    return found;
  }

  buffer(data, kind = this.gl.ARRAY_BUFFER) {
    const made = this.gl.createBuffer();
    this.gl.bindBuffer(kind, made);
    this.gl.bufferData(kind, data, this.gl.STATIC_DRAW);
    return made;
  }

  mesh(vertices, normals, faces) {
    const indices = vertices.length / 3 > 65535 ? null : new Uint16Array(faces);
    if (!indices) [vertices, normals] = [spread(vertices, faces), spread(normals, faces)];
    return {
      vertices: this.buffer(vertices), normals: this.buffer(normals),
      faces: indices && this.buffer(indices, this.gl.ELEMENT_ARRAY_BUFFER), count: faces.length,
    };
  }

  // Two triangles for each segment; the shader gives them their width on the screen.
  ribbon(points, when) {
    const segments = points.length / 3 - 1;
    const rows = [];
    for (let i = 0; i < segments; i++) {
      const a = points.subarray(3 * i, 3 * i + 3);
      const b = points.subarray(3 * i + 3, 3 * i + 6);
      const [s, t] = when ? [when[i], when[i + 1]] : [0, 0];
      for (const [near, side] of [[1, -1], [1, 1], [0, 1], [1, -1], [0, 1], [0, -1]])
        rows.push(...(near ? a : b), ...(near ? b : a), side, near ? 1 : -1, near ? s : t);
    }
    return { data: this.buffer(new Float32Array(rows)), count: 6 * segments };
  }

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
    this.labelled = this.runs[0].scene.tracks.map((track) => {
      const label = document.createElement("span");
      label.textContent = track.name;
      this.labels.append(label);
      return label;
    });
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
    if (this.shown.vectors) for (const arrow of run.scene.arrows) this.renderArrow(run, arrow, 0.8 * scale);
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

  renderMesh(mesh, model, colour, alpha) {
    const { gl, solid } = this;
    gl.useProgram(solid.program);
    gl.uniformMatrix4fv(solid.seen, false, this.seen);
    gl.uniformMatrix4fv(solid.model, false, model);
    gl.uniform3fv(solid.colour, colour);
    gl.uniform3fv(solid.eye, this.eye);
    gl.uniform1f(solid.alpha, alpha);
    for (const [place, data] of [[solid.position, mesh.vertices], [solid.normal, mesh.normals]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, data);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0);
    }
    if (mesh.faces) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.faces);
      gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_SHORT, 0);
    } else gl.drawArrays(gl.TRIANGLES, 0, mesh.count);
    for (const place of [solid.position, solid.normal]) gl.disableVertexAttribArray(place);
  }

  renderLine(ribbon, model, colour, width, faint = 1) {
    const { gl, line, canvas } = this;
    gl.useProgram(line.program);
    gl.disable(gl.CULL_FACE);
    gl.uniformMatrix4fv(line.seen, false, this.seen);
    gl.uniformMatrix4fv(line.model, false, model);
    gl.uniform3fv(line.colour, colour);
    gl.uniform2f(line.size, canvas.width, canvas.height);
    gl.uniform1f(line.width, width * Math.min(window.devicePixelRatio || 1, 2));
    gl.uniform1f(line.alpha, 1);
    gl.uniform1f(line.faint, faint);
    gl.uniform1f(line.now, this.time);
    gl.bindBuffer(gl.ARRAY_BUFFER, ribbon.data);
    for (const [place, size, offset] of [[line.here, 3, 0], [line.there, 3, 12], [line.corner, 2, 24], [line.when, 1, 32]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 36, offset);
    }
    gl.drawArrays(gl.TRIANGLES, 0, ribbon.count);
    for (const place of [line.here, line.there, line.corner, line.when]) gl.disableVertexAttribArray(place);
    gl.enable(gl.CULL_FACE);
  }

  renderAxes(model, size) {
    const scaled = Float32Array.from(model, (x, i) => (i < 12 ? x * size : x));
    this.axes.forEach((axis, i) => this.renderLine(axis, scaled, rgb(AXES[i]), 2.5));
  }

  renderArrow(run, arrow, longest) {
    const none = new Float32Array(4 * run.scene.time.length);
    const at = (values) => Scene.pose(run.scene, values, none, 1, 0, this.time)[1];
    const value = at(arrow.value);
    const length = (length3(value) / arrow.largest) * longest;
    if (length < 1e-3 * longest) return;
    const model = arrowMatrix(add(at(arrow.start), run.shift), value, length, 0.05 * longest);
    this.renderMesh(this.arrow, model, rgb("#b3368f"), 0.9);
  }

  // A bending body: its points at rest, displaced as recorded times the stretch that the reader chose.
  renderFlexible(run, line) {
    const [row, part] = between(run.scene.time, this.time);
    const size = line.points.length;
    const next = Math.min(row + 1, run.scene.time.length - 1);
    const points = line.points.map((x, i) => {
      const [a, b] = [line.displacement[row * size + i], line.displacement[next * size + i]];
      return x + this.stretch * (a + part * (b - a));
    });
    const ribbon = this.ribbon(points);
    this.renderLine(ribbon, this.placed(run, Scene.body(run.scene, line.body, this.time)), rgb(TONES[this.theme].flexible), 7);
    this.gl.deleteBuffer(ribbon.data);
  }

  renderLabels() {
    this.labelled.forEach((label, i) => {
      const track = this.runs[0].scene.tracks[i];
      label.hidden = !this.shown.frames;
      if (label.hidden) return;
      const [x, y, , w] = clip(this.seen, this.tracked(this.runs[0], track)[1]);
      label.style.left = `${50 + (50 * x) / w}%`;
      label.style.top = `${50 - (50 * y) / w}%`;
    });
  }
}

const clip = (m, p) => [0, 1, 2, 3].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);

function spread(values, faces) {
  const made = new Float32Array(3 * faces.length);
  faces.forEach((face, i) => made.set(values.subarray(3 * face, 3 * face + 3), 3 * i));
  return made;
}

// Shaft and head of an arrow of unit length along z and unit radius at the head.
function arrowTriangles() {
  const [vertices, normals, faces] = [[], [], []];
  const wall = (r0, z0, r1, z1) => {
    for (let i = 0; i < 16; i++) {
      const first = vertices.length / 3;
      for (const k of [i, i + 1]) {
        const [c, s] = [Math.cos((k * Math.PI) / 8), Math.sin((k * Math.PI) / 8)];
        vertices.push(r0 * c, r0 * s, z0, r1 * c, r1 * s, z1);
        normals.push(c, s, 0, c, s, 0);
      }
      faces.push(first, first + 2, first + 3, first, first + 3, first + 1);
    }
  };
  wall(0.35, 0, 0.35, 0.8);
  wall(0, 0.8, 1, 0.8);
  wall(1, 0.8, 0, 1);
  return [new Float32Array(vertices), new Float32Array(normals), new Uint32Array(faces)];
}
