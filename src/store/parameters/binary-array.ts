// Encodes arrays as parameters in PostgreSQL's binary format: neither side writes or reads their text.

/** The types that have a binary form here, with their object ids, which are the same in every PostgreSQL. */
const oids = { bool: 16, bytea: 17, bigint: 20, int: 23, text: 25, float8: 701, uuid: 2950 } as const;

export type BinaryType = keyof typeof oids;

export function isBinary(type: string): type is BinaryType {
  return Object.hasOwn(oids, type);
}

/** Bytes of a value, for types of a fixed size. */
const sizes = { bool: 1, bigint: 8, int: 4, float8: 8, uuid: 16 } as const;

const headerBytes = 20;

/** One dimension. Undefined counts as null. Throws a TypeError or RangeError for a value that the type does not have. */
export function binaryArray(type: BinaryType, values: readonly unknown[]): Buffer {
  let length = values.length === 0 ? 12 : headerBytes;
  let hasNull = 0;
  for (const value of values) {
    length += 4;
    if (value === null || value === undefined) hasNull = 1;
    else length += sizeOf(type, value);
  }
  const bytes = Buffer.allocUnsafe(length);
  bytes.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  bytes.writeInt32BE(hasNull, 4);
  bytes.writeInt32BE(oids[type], 8);
  if (values.length === 0) return bytes;
  bytes.writeInt32BE(values.length, 12);
  // The number of the first element.
  bytes.writeInt32BE(1, 16);
  let at = headerBytes;
  for (const value of values) {
    if (value === null || value === undefined) at = bytes.writeInt32BE(-1, at);
    else {
      const end = write(type, value, bytes, at + 4);
      bytes.writeInt32BE(end - at - 4, at);
      at = end;
    }
  }
  return bytes;
}

function sizeOf(type: BinaryType, value: unknown): number {
  if (type === "text") return Buffer.byteLength(value as string);
  if (type === "bytea") return (value as Uint8Array).length;
  return sizes[type];
}

/** Returns the position after it. */
function write(type: BinaryType, value: unknown, to: Buffer, at: number): number {
  switch (type) {
    case "text":
      return at + to.write(value as string, at);
    case "bytea":
      to.set(value as Uint8Array, at);
      return at + (value as Uint8Array).length;
    case "bool":
      return to.writeUInt8(value ? 1 : 0, at);
    case "int":
      return to.writeInt32BE(whole(value), at);
    case "bigint":
      to.writeInt32BE(Math.floor(whole(value) / 2 ** 32), at);
      return to.writeUInt32BE((value as number) >>> 0, at + 4);
    case "float8":
      return to.writeDoubleBE(value as number, at);
    case "uuid":
      return writeUuid(value as string, to, at);
  }
}

function whole(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new RangeError("a column of whole numbers got another value");
}

const digits = new Int16Array(128).fill(-256);
for (let digit = 0; digit < 16; digit++) {
  digits[digit.toString(16).charCodeAt(0)] = digit;
  digits[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}
const digitAt = (text: string, at: number) => digits[text.charCodeAt(at)] ?? -256;

function writeUuid(text: string, to: Buffer, at: number): number {
  let end = at;
  for (let i = 0; i < text.length; i += 2) {
    if (text.charCodeAt(i) === dash) i++;
    const byte = digitAt(text, i) * 16 + digitAt(text, i + 1);
    if (byte < 0 || end === at + 16) throw new RangeError("a column of UUIDs got another text");
    to[end++] = byte;
  }
  if (end !== at + 16) throw new RangeError("a column of UUIDs got another text");
  return end;
}

const dash = 45;
