// Measures a stored OTLP request in protobuf before it is decoded: one pass over its messages, no allocation.

const [keyValue, anyValue, list, map, event, link, status, scope, span, resource, scopeSpans, resourceSpans] =
  Array.from({ length: 12 }, (_, at) => at + 1) as [...Kinds];
type Kinds = [number, number, number, number, number, number, number, number, number, number, number, number];

/** By kind of message, its fields that are messages. */
const fields: Record<number, Record<number, number>> = {
  0: { 1: resourceSpans },
  [resourceSpans]: { 1: resource, 2: scopeSpans },
  [resource]: { 1: keyValue },
  [scopeSpans]: { 1: scope, 2: span },
  [scope]: { 3: keyValue },
  [span]: { 9: keyValue, 11: event, 13: link, 15: status },
  [event]: { 3: keyValue },
  [link]: { 4: keyValue },
  [keyValue]: { 2: anyValue },
  [anyValue]: { 5: list, 6: map },
  [list]: { 1: anyValue },
  [map]: { 1: keyValue },
};

/** At least as many objects, lists and commas as its JSON has, if all its fields are set. */
const elements: Record<number, number> = {
  ...{
    0: 0,
    [resourceSpans]: 2,
    [resource]: 2,
    [scopeSpans]: 2,
    [scope]: 8,
    [span]: 24,
    [event]: 8,
    [link]: 10,
  },
  ...{ [status]: 3, [keyValue]: 1, [anyValue]: 1, [list]: 1, [map]: 1 },
};

const fieldsMax = 16;
const kinds = 13;
const children = new Uint8Array(kinds * fieldsMax);
const costs = new Uint8Array(kinds);
for (let kind = 0; kind < kinds; kind++) {
  costs[kind] = elements[kind] ?? 0;
  for (const [field, child] of Object.entries(fields[kind] ?? {})) {
    children[kind * fieldsMax + Number(field)] = child;
  }
}

/** An upper bound of the objects, lists and commas in its JSON. `bytes`: of a request that `readPlain` accepted. */
export function elementsOfPlain(bytes: Uint8Array): number {
  return elementsOf(bytes, 0, 0, bytes.length);
}

function elementsOf(bytes: Uint8Array, kind: number, from: number, end: number): number {
  let sum = costs[kind]!;
  let at = from;
  while (at < end) {
    const tag = bytes[at++]!;
    // The second byte of the tag of a span's flags.
    if (tag > 127) at++;
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
      const child = children[kind * fieldsMax + (tag >> 3)]!;
      if (child !== 0) sum += elementsOf(bytes, child, at, at + length);
      at += length;
    }
  }
  return sum;
}
