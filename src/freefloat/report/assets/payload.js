"use strict";
// Unpacking what Python packed: base64 of gzip of (length of header, header, numbers).

function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function unzipped(id) {
  const stream = new Blob([bytesOf(id)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function contentsOf(id) {
  const buffer = await unzipped(id);
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const kinds = { f4: Float32Array, f8: Float64Array, u4: Uint32Array };
  const numbers = (entry) => new kinds[entry.type](buffer, 4 + length + entry.at, entry.length);
  const filled = (node) => {
    if (Array.isArray(node)) return node.map(filled);
    if (node === null || typeof node !== "object") return node;
    if ("type" in node && "at" in node && "length" in node) return numbers(node);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, filled(value)]));
  };
  return filled(header);
}

// A script that came along compressed. A blob is the only source that the page's policy allows besides itself.
async function runScript(id) {
  const url = URL.createObjectURL(new Blob([await unzipped(id)], { type: "text/javascript" }));
  await new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: url, onload: done, onerror: failed });
    document.head.append(script);
  });
  URL.revokeObjectURL(url);
}

// Where a time stands between two samples: the earlier index and the fraction towards the next.
function between(times, t) {
  let low = 0;
  let high = times.length - 1;
  if (high <= 0 || t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high - 1, 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  const span = times[high] - times[low];
  return [low, span > 0 ? (t - times[low]) / span : 0];
}
