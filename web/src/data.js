// What the page was given: a description in JSON, and columns as binary blocks.
import { byId } from './dom.js';

const ARRAYS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unzipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function readData() {
  const meta = JSON.parse(byId('meta').textContent);
  const blocks = new Map();

  async function read(number) {
    const element = byId(`block${number}`);
    let bytes = bytesOf(element.textContent);
    element.remove(); // the text is as large as the numbers: kept once only
    const { type, gzip } = meta.blocks[number];
    if (gzip) bytes = await unzipped(bytes);
    if (type === 'json') return JSON.parse(new TextDecoder().decode(bytes));
    return new ARRAYS[type](bytes.buffer, bytes.byteOffset, bytes.byteLength / ARRAYS[type].BYTES_PER_ELEMENT);
  }

  function block(number) {
    if (!blocks.has(number)) blocks.set(number, read(number));
    return blocks.get(number);
  }

  return { meta, block };
}

// Names, text and columns of all points, read once the first picture stands.
export async function readRows({ meta, block }) {
  const [ids, text, neighbors, ...columns] = await Promise.all([
    meta.ids === null ? null : block(meta.ids),
    meta.text === null ? null : block(meta.text),
    meta.neighbors && block(meta.neighbors.block),
    ...meta.columns.map((column) => readColumn(column, block)),
  ]);
  const kept = meta.neighbors ? await Promise.all(meta.neighbors.kept.map(block)) : [];
  const id = (i) => (ids ? ids[i] : i);
  const k = meta.neighbors ? meta.neighbors.k : 0;
  return { id, text, columns, neighbors, kept, k, numbered: meta.numbered, pairable: meta.pairable };
}

export async function readColumn(column, block) {
  if (column.kind === 'number') return { ...column, parts: await Promise.all(column.blocks.map(block)) };
  return { ...column, values: await block(column.block) };
}

// A column's value of a point as a text; numbers may differ from view to view.
export function shown(column, i, view, numeral) {
  if (column.kind === 'text') return column.values[i];
  if (column.kind === 'category') return column.categories[column.values[i]] ?? 'missing';
  return numeral(column.parts[Math.min(view, column.parts.length - 1)][i], column.whole);
}
