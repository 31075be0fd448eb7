// Painting with plain WebGL: lit solids, and lines with a width in pixels.

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

const rgb = (hex) => [1, 3, 5].map((i) => (parseInt(hex.slice(i, i + 2), 16) || 0) / 255);

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl", { antialias: true, alpha: true, preserveDrawingBuffer: true });
    if (!this.gl) throw new Error("WebGL is not available");
    this.solid = this.program(SOLID_VERTEX, SOLID_FRAGMENT);
    this.line = this.program(LINE_VERTEX, LINE_FRAGMENT);
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  }

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

  renderLine(ribbon, model, colour, width, faint = 1, alpha = 1) {
    const { gl, line, canvas } = this;
    gl.useProgram(line.program);
    gl.disable(gl.CULL_FACE);
    gl.uniformMatrix4fv(line.seen, false, this.seen);
    gl.uniformMatrix4fv(line.model, false, model);
    gl.uniform3fv(line.colour, colour);
    gl.uniform2f(line.size, canvas.width, canvas.height);
    gl.uniform1f(line.width, width * Math.min(window.devicePixelRatio || 1, 2));
    gl.uniform1f(line.alpha, alpha);
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
