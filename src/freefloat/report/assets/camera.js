// A camera that circles a point: drag turns, shift or right button moves, wheel or two fingers come nearer.

class Camera {
  constructor(canvas, centre, radius, changed) {
    Object.assign(this, { canvas, home: centre, radius, changed, pointers: new Map() });
    this.reset();
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  reset() {
    this.look(-0.72, 0.42);
  }

  look(azimuth, height) {
    Object.assign(this, { azimuth, height, distance: 2.4 * this.radius, target: [...this.home] });
    this.changed();
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  drag(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const span = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]) || 1;
      this.distance *= span(last) / span([event.clientX, event.clientY]);
    } else if (event.shiftKey || event.buttons === 2) this.move(dx, dy);
    else this.turn(-0.008 * dx, 0.008 * dy);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.changed();
  }

  turn(azimuth, height) {
    this.azimuth += azimuth;
    this.height = Math.max(-1.55, Math.min(1.55, this.height + height));
  }

  move(dx, dy) {
    const scale = this.distance / this.canvas.clientHeight;
    const back = unit3(minus(this.eye(), this.target));
    const right = unit3(cross3([0, 0, 1], back));
    this.target = add(this.target, add(times3(right, -dx * scale), times3(cross3(back, right), dy * scale)));
  }

  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.canvas) return; // scrolling the page must stay possible
    event.preventDefault();
    this.distance *= Math.exp(0.0012 * event.deltaY);
    this.changed();
  }

  key(event) {
    const turns = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    if (turns[event.key]) this.turn(...turns[event.key]);
    else if (event.key === "+" || event.key === "-") this.distance *= event.key === "+" ? 0.9 : 1.1;
    else return;
    event.preventDefault();
    this.changed();
  }

  eye() {
    const [c, s] = [Math.cos(this.height), Math.sin(this.height)];
    const out = [c * Math.cos(this.azimuth), c * Math.sin(this.azimuth), s];
    return add(this.target, times3(out, this.distance));
  }

  // Sees everything between a thousandth and a thousand distances, seen from `shift` where the scene is followed.
  matrix(aspect, shift) {
    const eye = add(this.eye(), shift);
    const view = lookAt(eye, add(this.target, shift), [0, 0, 1]);
    return product(perspective(0.75, aspect, this.distance / 100, this.distance * 100), view);
  }
}
