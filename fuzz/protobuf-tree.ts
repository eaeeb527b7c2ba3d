// Protobuf as a tree of fields, with what an encoder would never write: wrong lengths, padded varints, groups.

export type Message = { fields: Field[]; bytes?: Buffer; size?: number };

/** `payload`: without tag and length. `tag` and `length` replace the bytes that would be right. */
export type Field = {
  number: number;
  wire: number;
  payload: Buffer | Message;
  tag?: Buffer;
  length?: Buffer;
};

/** Which fields contain messages. */
type Schema = { [field: number]: Schema };

const anyValue: Schema = {};
const keyValue: Schema = { 2: anyValue };
anyValue[5] = { 1: anyValue };
anyValue[6] = { 1: keyValue };
const resource: Schema = { 1: keyValue };
const span: Schema = { 9: keyValue, 11: { 3: keyValue }, 13: { 4: keyValue }, 15: {} };
const record: Schema = { 5: anyValue, 6: keyValue };
const requestOf = (entry: Schema): Schema => ({ 1: { 1: resource, 2: { 1: { 3: keyValue }, 2: entry } } });

export const schemas = { traces: requestOf(span), logs: requestOf(record) };

/** Reads valid protobuf. */
export function messageOf(bytes: Buffer, schema: Schema): Message {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [tag, start] = readVarint(bytes, at);
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    let payload: Buffer;
    if (wire === 2) {
      const [length, from] = readVarint(bytes, start);
      payload = bytes.subarray(from, from + length);
      at = from + length;
    } else {
      const end = wire === 0 ? readVarint(bytes, start)[1] : start + (wire === 1 ? 8 : 4);
      payload = bytes.subarray(start, end);
      at = end;
    }
    const inner = wire === 2 ? schema[number] : undefined;
    fields.push({ number, wire, payload: inner ? messageOf(payload, inner) : payload });
  }
  return { fields };
}

export function bytesOf(message: Message): Buffer {
  message.bytes ??= Buffer.concat(message.fields.flatMap(partsOf));
  return message.bytes;
}

function partsOf({ number, wire, payload, tag, length }: Field): Buffer[] {
  const bytes = Buffer.isBuffer(payload) ? payload : bytesOf(payload);
  const start = tag ?? varint(number * 8 + wire);
  return wire === 2 || length ? [start, length ?? varint(bytes.length), bytes] : [start, bytes];
}

/** How many messages it has, itself included. */
export function sizeOf(message: Message): number {
  message.size ??= innerOf(message).reduce((sum, inner) => sum + sizeOf(inner), 1);
  return message.size;
}

function innerOf({ fields }: Message): Message[] {
  return fields.flatMap(({ payload }) => (Buffer.isBuffer(payload) ? [] : [payload]));
}

/** The message with the one at this place changed, counted from 0 in the order of the bytes. */
export function changedAt(message: Message, place: number, change: (inner: Message) => Message): Message {
  if (place === 0) return change(message);
  let left = place - 1;
  for (const [index, field] of message.fields.entries()) {
    const { payload } = field;
    if (Buffer.isBuffer(payload)) continue;
    const size = sizeOf(payload);
    if (left < size) {
      const changed = { ...field, payload: changedAt(payload, left, change) };
      return { fields: message.fields.with(index, changed) };
    }
    left -= size;
  }
  return message;
}

export function messageAt(message: Message, place: number): Message {
  let found = message;
  changedAt(message, place, inner => {
    found = inner;
    return inner;
  });
  return found;
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

function readVarint(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0;
  let at = start;
  for (let unit = 1; ; unit *= 128) {
    const byte = bytes[at++]!;
    value += (byte & 127) * unit;
    if (byte < 128) return [value, at];
  }
}
