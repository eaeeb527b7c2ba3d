// Changes protobuf messages at random places: fields, wire types, lengths, varints, groups, nesting, ids and bytes.
import { mutatedBytes } from "./json-mutations.ts";
import { bytesOf, changedAt, type Field, type Message, messageAt, sizeOf, varint } from "./protobuf-tree.ts";
import type { Random } from "./random.ts";

/** A mutant of `seed` as bytes. `others`: what it may get messages from. */
export function mutatedProtobuf(seed: Message, others: readonly Message[], random: Random): Buffer {
  let message = random.chance(0.8) ? trimmed(seed, random) : seed;
  // Half of them stay valid protobuf: the first wrong length refuses a body, whatever else is in it.
  const isValid = random.chance(0.5);
  for (let left = 1 + random.size(6); left > 0; left--) {
    const whole = message;
    message = changedAt(message, random.below(sizeOf(message)), inner =>
      changed(inner, { whole, others, isValid }, random),
    );
  }
  return !isValid && random.chance(0.3) ? mutatedBytes(bytesOf(message), random) : bytesOf(message);
}

/** Fewer repeated messages: spans, attributes, events. */
function trimmed(message: Message, random: Random): Message {
  const most = 1 + random.size(8);
  const seen = new Map<number, number>();
  const fields: Field[] = [];
  for (const field of message.fields) {
    const { number, payload } = field;
    if (Buffer.isBuffer(payload)) {
      fields.push(field);
      continue;
    }
    const count = (seen.get(number) ?? 0) + 1;
    seen.set(number, count);
    if (count <= most) fields.push({ ...field, payload: trimmed(payload, random) });
  }
  return { fields };
}

type Material = { whole: Message; others: readonly Message[]; isValid: boolean };

function changed(message: Message, material: Material, random: Random): Message {
  const { fields } = message;
  if (fields.length === 0 || random.chance(0.15)) return inserted(message, material.isValid, random);
  const at = random.below(fields.length);
  const field = fields[at]!;
  if (!material.isValid && random.chance(0.35)) return { fields: fields.with(at, broken(field, random)) };
  const choice = random.below(15);
  if (choice < 2) return { fields: fields.toSpliced(at, 1) };
  if (choice < 4) {
    const times = random.chance(0.02) ? random.size(3_000) : 1;
    return { fields: fields.toSpliced(at, 0, ...Array.from({ length: times }, () => field)) };
  }
  if (choice < 5) return { fields: [...fields.slice(at), ...fields.slice(0, at).reverse()] };
  if (choice < 6) return { fields: fields.with(at, { ...field, number: random.pick(validNumbers) }) };
  if (choice < 7) return { fields: halves(fields, at) };
  if (choice < 10) {
    const other = random.pick([material.whole, ...material.others]);
    return { fields: fields.with(at, withMessageOf(field, other, random)) };
  }
  if (choice < 11) return { fields: fields.with(at, nested(field, random)) };
  return { fields: fields.with(at, withOtherPayload(field, fields, random)) };
}

/** No longer what a reader can skip: another wire type, a wrong length, a padded tag, a number that is none. */
function broken(field: Field, random: Random): Field {
  const choice = random.below(6);
  if (choice < 2) return { ...field, wire: random.below(8) };
  if (choice < 4) return withWrongLength(field, random);
  return choice < 5 ? { ...field, tag: padded(field, random) } : { ...field, number: random.pick(numbers) };
}

const validNumbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 17, 100, 536_870_911];
const numbers = [0, ...validNumbers, 536_870_912];

/** An unknown field, a group, or a known one with bytes of its own. */
function inserted({ fields }: Message, isValid: boolean, random: Random): Message {
  const number = random.pick(isValid ? validNumbers : numbers);
  const wire = random.pick(isValid ? [0, 0, 1, 2, 2, 2, 5] : [0, 1, 2, 3, 3, 4, 6, 7]);
  const field: Field = { number, wire, payload: payloadOf(wire, number, random) };
  return { fields: fields.toSpliced(random.below(fields.length + 1), 0, field) };
}

function payloadOf(wire: number, number: number, random: Random): Buffer {
  if (wire === 0) return varintBytes(random);
  if (wire === 1)
    return random.chance(0.5) ? Buffer.alloc(8, random.pick([0, 0x7f, 0x80, 0xff])) : random.bytes(8);
  if (wire === 5) return random.bytes(4);
  if (wire === 3) return groups(number, random);
  return wire === 2 ? sizedBytes(random) : Buffer.alloc(0);
}

/** Groups in groups, often without their ends, or with those of others. */
function groups(number: number, random: Random): Buffer {
  const isFar = random.chance(0.02);
  const depth = isFar ? random.size(100_000) : random.pick([0, 1, 2, 50, 99, 100, 101]);
  const open = Buffer.alloc(depth, (Math.min(number, 15) << 3) | 3);
  const close = Buffer.alloc(depth + 1, (Math.min(number, 15) << 3) | 4);
  const choice = random.below(4);
  if (choice === 0) return open;
  return Buffer.concat([open, choice === 1 ? varintBytes(random) : Buffer.alloc(0), close]);
}

function varintBytes(random: Random): Buffer {
  const choice = random.below(8);
  if (choice < 3) return varint(random.size(2 ** 31));
  if (choice < 5) return Buffer.concat([Buffer.alloc(9, 0xff), Buffer.from([random.pick([1, 0x7f, 0])])]);
  if (choice < 6) return Buffer.concat([Buffer.alloc(random.below(12), 0x80), Buffer.from([0])]);
  if (choice < 7) return Buffer.alloc(random.pick([10, 11, 20]), 0xff);
  return Buffer.concat([Buffer.alloc(4, 0xff), Buffer.from([random.pick([0x07, 0x0f, 0x7f])])]);
}

const ids = [0, 1, 7, 8, 9, 15, 16, 17, 33, 1_000];

function sizedBytes(random: Random): Buffer {
  const choice = random.below(10);
  if (choice < 2) return Buffer.alloc(random.pick(ids), random.pick([0, 1, 0xff]));
  if (choice < 3) return random.bytes(random.pick(ids));
  if (choice < 4)
    return Buffer.alloc(random.size(random.chance(0.01) ? 1_000_000 : 4_000), random.pick(fillings));
  if (choice < 6) return Buffer.from(random.pick(texts));
  // Packed numbers, as a repeated field would be.
  if (choice < 7)
    return Buffer.concat(Array.from({ length: random.size(50) }, () => varint(random.size(2 ** 31))));
  return random.pick(invalidUtf8);
}

const fillings = ["x", "é", "\0", "\\", "[", "{", "4111 ", "a@b.co "];
const texts = [
  ...[
    "",
    "service.name",
    "fuzz",
    "__proto__",
    "constructor",
    "toString",
    "1000",
    "user",
    "\0",
    "😀",
    "\ufeff",
  ],
  ...["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.name", "gen_ai.tool.call.arguments"],
  ...["gen_ai.usage.input_tokens", "gen_ai.operation.name", "invoke_agent", "user.id", "session.id"],
  ...["jane.doe@example.com", "4111 1111 1111 1111", "+1 (415) 555-0132", "DE89370400440532013000"],
  '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
  '[{"role":"assistant","parts":[null,{"type":"tool_call","name":"t","arguments":"{\\"a\\":1"}]}]',
  ...["[[[[", '{"__proto__":{"polluted":1}}', "nul", "18446744073709551615", "-1", "1e999"],
];
const invalidUtf8 = ["c0", "ed a0 80", "f5 80 80 80", "e2 82", "80", "ff fe 00 00", "c0 80", "f0 9f 98"].map(
  hex => Buffer.from(hex.replaceAll(" ", ""), "hex"),
);

/** A length that is not that of the payload: past the end, or so large that it overflows. */
function withWrongLength(field: Field, random: Random): Field {
  const { payload } = field;
  const length = Buffer.isBuffer(payload) ? payload.length : bytesOf(payload).length;
  const wrong = random.pick([
    () => varint(length + 1 + random.size(1_000)),
    () => varint(Math.max(0, length - 1 - random.size(length + 1))),
    () => varint(2 ** 31 - 1),
    () => varint(2 ** 31),
    () => varint(2 ** 32 - 1),
    () => varint(2 ** 32 + length),
    () => varint(2 ** 52),
    () => Buffer.concat([Buffer.alloc(9, 0xff), Buffer.from([1])]),
    () => overlong(length),
  ]);
  return { ...field, wire: 2, length: wrong() };
}

/** A tag in more bytes than it needs, as far as 64 bits allow, or one more. */
function padded({ number, wire }: Field, random: Random): Buffer {
  return overlong(number * 8 + wire, random.pick([1, 2, 4, 9, 10]));
}

function overlong(value: number, by = 3): Buffer {
  const right = varint(value);
  const last = right.length - 1;
  return Buffer.concat([
    right.subarray(0, last),
    Buffer.from([right[last]! | 0x80]),
    Buffer.alloc(by - 1, 0x80),
    Buffer.from([0]),
  ]);
}

/** A message in two pieces, which a reader must merge. */
function halves(fields: Field[], at: number): Field[] {
  const field = fields[at]!;
  const { payload } = field;
  if (Buffer.isBuffer(payload)) return fields;
  const middle = payload.fields.length >> 1;
  const pieces = [payload.fields.slice(0, middle), payload.fields.slice(middle)];
  return fields.toSpliced(at, 1, ...pieces.map(inner => ({ ...field, payload: { fields: inner } })));
}

function withMessageOf(field: Field, other: Message, random: Random): Field {
  return { ...field, wire: 2, payload: messageAt(other, random.below(sizeOf(other))) };
}

/** An AnyValue in lists or objects, around the limit of 200 levels and far beyond. */
function nested(field: Field, random: Random): Field {
  const isFar = random.chance(0.02);
  const depth = isFar ? random.size(3_000) : random.pick([1, 5, 10, 50, 80, 90, 95, 98, 100, 101]);
  const isList = random.chance(0.5);
  let bytes = Buffer.from([0x08, 1]);
  for (let level = 0; level < depth; level++) {
    bytes = isList
      ? sized(5, sized(1, bytes))
      : sized(6, sized(1, Buffer.concat([sized(1, Buffer.from("k")), sized(2, bytes)])));
  }
  return { ...field, wire: 2, payload: bytes };
}

function sized(number: number, bytes: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** A payload of the same wire type: other bytes, or those of a field beside it, such as the id of a span for its parent. */
function withOtherPayload(field: Field, fields: Field[], random: Random): Field {
  if (random.chance(0.3)) return { ...field, payload: random.pick(fields).payload };
  return { ...field, payload: payloadOf(field.wire, field.number, random) };
}
