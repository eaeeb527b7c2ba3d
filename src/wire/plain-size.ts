// Measures a stored OTLP request in protobuf before it is decoded: one pass over its messages, no allocation.
import { type Message, traces } from "./otlp-fields.ts";

/** An upper bound of the objects, lists and commas in its JSON. `bytes`: of a request that `readPlain` accepted. */
export function elementsOfPlain(bytes: Uint8Array): number {
  return elementsOf(bytes, traces, 0, bytes.length);
}

function elementsOf(bytes: Uint8Array, message: Message, from: number, end: number): number {
  let sum = message.elements;
  let at = from;
  while (at < end) {
    let tag = bytes[at++]!;
    if (tag > 127) tag = (tag & 127) | (bytes[at++]! << 7);
    const wire = tag & 7;
    if (wire === 0) {
      while (bytes[at++]! > 127);
    } else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else {
      let length = bytes[at++]!;
      for (let shift = 7; length >= 1 << shift; shift += 7) {
        length = (length & ((1 << shift) - 1)) | (bytes[at++]! << shift);
      }
      const child = message.byTag[tag]!.message;
      if (child !== message) sum += elementsOf(bytes, child, at, at + length);
      at += length;
    }
  }
  return sum;
}
