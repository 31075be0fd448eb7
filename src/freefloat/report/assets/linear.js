// Vectors and matrices for the picture, matrices column by column as WebGL wants them.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times3 = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const cross3 = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length3 = (a) => Math.hypot(a[0], a[1], a[2]);
const unit3 = (a) => times3(a, 1 / (length3(a) || 1));

function product(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + i] * b[j * 4 + k];
      c[j * 4 + i] = sum;
    }
  return c;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const depth = 1 / (near - far);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) * depth, -1, 0, 0, 2 * far * near * depth, 0]);
}

function lookAt(eye, target, up) {
  const z = unit3(minus(eye, target));
  const x = unit3(cross3(up, z));
  const y = cross3(z, x);
  const shift = (axis) => -(axis[0] * eye[0] + axis[1] * eye[1] + axis[2] * eye[2]);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, shift(x), shift(y), shift(z), 1]);
}

// Pose of a scalar-first quaternion and a position.
function poseMatrix(q, p) {
  const [w, x, y, z] = q;
  return new Float32Array([
    1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1,
  ]);
}

// An arrow along z, stretched to a direction and a length; its thickness stays.
function arrowMatrix(start, direction, length, thickness) {
  const z = unit3(direction);
  const aside = Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  const x = unit3(cross3(aside, z));
  const y = cross3(z, x);
  return new Float32Array([
    ...times3(x, thickness), 0, ...times3(y, thickness), 0, ...times3(z, length), 0, ...start, 1,
  ]);
}

const moved = (m, p) => [
  m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12],
  m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13],
  m[2] * p[0] + m[6] * p[1] + m[10] * p[2] + m[14],
];
