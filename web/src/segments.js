// Straight lines between points, any number of them, as wide as asked, drawn by WebGL.
import { mat4 } from 'gl-matrix';
import createRegl from 'regl';
import { createRenderer } from 'regl-scatterplot';

// The renderer of all panels; lines need instances, which the library does not ask for.
export function createSharedRenderer() {
  const canvas = document.createElement('canvas');
  const regl = createRegl({
    canvas,
    attributes: { antialias: true, preserveDrawingBuffer: true },
    extensions: ['ANGLE_instanced_arrays', 'OES_texture_float'],
    optionalExtensions: ['OES_element_index_uint', 'WEBGL_color_buffer_float', 'EXT_float_blend'],
  });
  const renderer = createRenderer({ regl, canvas });
  const resize = () => renderer.resize();
  addEventListener('resize', resize);
  addEventListener('orientationchange', resize);
  resize();
  return renderer;
}

export function createSegments(renderer) {
  const draw = renderer.regl({
    vert: `
      precision highp float;
      attribute vec2 corner;
      attribute vec4 ends;
      uniform mat4 place;
      uniform vec2 pixels;
      uniform float width;
      varying vec2 off;
      void main() {
        // half a width on either side, and room for an edge that fades
        float reach = 0.5 * width + 1.0;
        vec2 a = (place * vec4(ends.xy, 0.0, 1.0)).xy;
        vec2 b = (place * vec4(ends.zw, 0.0, 1.0)).xy;
        vec2 along = (b - a) * pixels;
        float size = length(along);
        vec2 unit = size > 0.0 ? along / size : vec2(1.0, 0.0);
        // a line from a point to itself is a disc
        off = vec2(size > 0.0 ? 0.0 : 2.0 * corner.x - 1.0, corner.y) * reach;
        // a pixel is two parts in so many of the clip space
        vec2 shift = (unit * off.x + vec2(-unit.y, unit.x) * off.y) * 2.0 / pixels;
        gl_Position = vec4(mix(a, b, corner.x) + shift, 0.0, 1.0);
      }`,
    frag: `
      precision highp float;
      uniform vec4 colour;
      uniform float width;
      varying vec2 off;
      void main() {
        float seen = colour.a * clamp(0.5 * width + 0.5 - length(off), 0.0, 1.0);
        gl_FragColor = vec4(colour.rgb * seen, seen);
      }`,
    attributes: {
      corner: [[0, -1], [0, 1], [1, -1], [1, 1]],
      ends: { buffer: renderer.regl.prop('ends'), divisor: 1 },
    },
    uniforms: {
      place: renderer.regl.prop('place'),
      pixels: renderer.regl.prop('pixels'),
      width: renderer.regl.prop('width'),
      colour: renderer.regl.prop('colour'),
    },
    primitive: 'triangle strip',
    count: 4,
    instances: renderer.regl.prop('count'),
    depth: { enable: false },
    blend: { enable: true, func: { src: 'one', dst: 'one minus src alpha' } },
  });

  // the same place on the canvas that the scatter plot gives its points
  function placeOf(scatterplot, canvas) {
    const shape = canvas.width / canvas.height;
    const scale = [canvas.width / renderer.canvas.width / shape, canvas.height / renderer.canvas.height, 1];
    const place = mat4.fromScaling(mat4.create(), scale);
    mat4.multiply(place, place, scatterplot.get('camera').view);
    return mat4.multiply(place, place, mat4.fromScaling(mat4.create(), [scatterplot.get('aspectRatio'), 1, 1]));
  }

  return {
    buffer: (ends) => renderer.regl.buffer(ends),
    render(scatterplot, canvas, layers) {
      const place = placeOf(scatterplot, canvas);
      const pixels = [renderer.canvas.width, renderer.canvas.height];
      renderer.render(() => {
        for (const layer of layers) if (layer.count) draw({ ...layer, place, pixels });
      }, canvas);
    },
  };
}

export function endsOf(x, y, pairs) {
  const ends = new Float32Array(4 * pairs.length);
  pairs.forEach(([a, b], k) => ends.set([x[a], y[a], x[b], y[b]], 4 * k));
  return ends;
}

export function endsOfEdges(x, y, sources, targets) {
  const ends = new Float32Array(4 * sources.length);
  for (let k = 0; k < sources.length; k += 1) {
    const [a, b] = [sources[k], targets[k]];
    ends[4 * k] = x[a];
    ends[4 * k + 1] = y[a];
    ends[4 * k + 2] = x[b];
    ends[4 * k + 3] = y[b];
  }
  return ends;
}
