// Bodies within every limit that take the most heap to prepare, by their content.
import type { MediaType } from "../../src/wire/media-type.ts";

type HostileBody = { mediaType: MediaType; bytes: Buffer };

const elementsMax = 2_000_000;

/** The first two in protobuf, where a value takes two bytes and objects are built key by key. */
export const hostileBodies: Record<string, () => HostileBody> = {
  "two million empty events beside a scope that fifteen spans repeat": () =>
    exported(
      Buffer.concat([
        message(1, text(1, `\u0100${"x".repeat(1_300_000)}`)),
        span(0, copies(elementsMax - 500, message(11, nothing))),
        ...Array.from({ length: 15 }, (_, at) => span(at + 1, nothing)),
      ]),
    ),
  "objects that have an index for a key": () =>
    exported(span(0, listAttribute(copies(666_000, message(1, message(6, message(1, text(1, "300")))))))),
  "objects with a hundred keys of their own": () => {
    const keys = (at: number) => Array.from({ length: 99 }, (_, key) => `"${name(at * 99 + key)}":0`).join();
    return canonical(`[${listText(19_700, at => `{"a${at % 1_500}":0,${keys(at)}}`)}]`);
  },
  "the arguments of tool calls, ten million values as JSON text": () => {
    const args = `[${listText(490_000, () => "{}")}]`;
    const calls = listText(
      20,
      at =>
        `{"span_id":"${at}","name":"n","attributes":{"gen_ai.tool.name":"t","gen_ai.tool.call.arguments":"${args}"}}`,
    );
    return { mediaType: "json", bytes: Buffer.from(`{"spans":[${calls}]}`) };
  },
};

const nothing = Buffer.alloc(0);
const name = (number: number) => number.toString(36);

function canonical(value: string): HostileBody {
  const bytes = Buffer.from(`{"spans":[{"span_id":"a","name":"n","attributes":{"a":${value}}}]}`);
  return { mediaType: "json", bytes };
}

function exported(scopeSpans: Buffer): HostileBody {
  const service = Buffer.concat([text(1, "service.name"), message(2, text(1, "agent"))]);
  const bytes = message(1, Buffer.concat([message(1, message(1, service)), message(2, scopeSpans)]));
  return { mediaType: "protobuf", bytes };
}

/** All of one trace, so its JSON is one text. */
function span(at: number, fields: Buffer): Buffer {
  const id = Buffer.alloc(8);
  id.writeUInt32BE(at + 1);
  return message(2, Buffer.concat([message(1, Buffer.alloc(16, 1)), message(2, id), fields]));
}

function listAttribute(values: Buffer): Buffer {
  return message(9, Buffer.concat([text(1, "a"), message(2, message(5, values))]));
}

function copies(count: number, part: Buffer): Buffer {
  return Buffer.alloc(count * part.length, part);
}

function listText(count: number, part: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => part(at)).join();
}

function text(field: number, value: string): Buffer {
  return message(field, Buffer.from(value));
}

function message(field: number, body: Buffer): Buffer {
  const head = [field * 8 + 2];
  let length = body.length;
  for (; length > 127; length >>>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), body]);
}
