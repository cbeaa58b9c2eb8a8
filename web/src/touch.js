// Fingers: two move and zoom, one draws the lasso; else one finger scrolls the page.
import { mat4 } from 'gl-matrix';

// where a finger is, as the camera sees it: height 2, width by the panel's shape
function seen(canvas, touch) {
  const box = canvas.getBoundingClientRect();
  const shape = box.width / box.height;
  return [((touch.clientX - box.left) / box.width * 2 - 1) * shape, 1 - (touch.clientY - box.top) / box.height * 2];
}

const middle = ([a, b]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]);

function pinch(scatterplot, before, now) {
  const [from, to] = [middle(before), middle(now)];
  const scale = apart(now) / Math.max(apart(before), 1e-6);
  const step = mat4.fromTranslation(mat4.create(), [...to, 0]);
  mat4.scale(step, step, [scale, scale, 1]);
  mat4.translate(step, step, [-from[0], -from[1], 0]);
  const view = mat4.clone(scatterplot.get('camera').view);
  scatterplot.set({ cameraView: mat4.multiply(view, step, view) });
}

export function listenToFingers({ canvas, scatterplot, store }) {
  let fingers = null;
  let drawing = false;

  function asMouse(kind, touch) {
    const { clientX, clientY } = touch;
    canvas.dispatchEvent(new MouseEvent(kind, { clientX, clientY, buttons: kind === 'mouseup' ? 0 : 1, bubbles: true, cancelable: true }));
  }

  canvas.addEventListener('touchstart', (event) => {
    fingers = event.touches.length === 2 ? [...event.touches].map((touch) => seen(canvas, touch)) : null;
    drawing = event.touches.length === 1 && store.state.mode === 'lasso';
    if (!drawing) return;
    event.preventDefault();
    asMouse('mousedown', event.touches[0]);
  }, { passive: false });
  canvas.addEventListener('touchmove', (event) => {
    if (drawing) asMouse('mousemove', event.touches[0]);
    if (fingers && event.touches.length === 2) {
      const now = [...event.touches].map((touch) => seen(canvas, touch));
      pinch(scatterplot, fingers, now);
      fingers = now;
    }
    if (drawing || fingers) event.preventDefault();
  }, { passive: false });
  function lift(event) {
    if (drawing) asMouse('mouseup', event.changedTouches[0]);
    fingers = null;
    drawing = false;
  }
  canvas.addEventListener('touchend', lift);
  canvas.addEventListener('touchcancel', lift);
}
