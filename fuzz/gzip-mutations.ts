// Compresses bodies, and breaks what was compressed: members, checksums, ends, headers, and bombs.
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { mutatedBytes } from "./json-mutations.ts";
import type { Random } from "./random.ts";

const fast = { level: 1 };

/** What is sent with `Content-Encoding: gzip`. */
export function mutatedGzip(body: Buffer, random: Random): Buffer {
  const choice = random.below(40);
  if (choice === 0) return random.chance(0.03) ? bomb(body, random) : gzipSync(gzipSync(body, fast), fast);
  if (choice === 1) return random.pick([deflateSync, deflateRawSync, brotliOf, zstdCompressSync])(body);
  if (choice === 2) return body;
  if (choice < 8) return members(body, random);
  const whole = gzipSync(body, { level: random.pick([0, 1, 1, 1]) });
  if (choice < 14) return whole;
  if (choice < 19) return whole.subarray(0, random.below(whole.length));
  if (choice < 23) return Buffer.concat([whole, random.pick(tails)(random)]);
  if (choice < 27) return withWrongEnd(whole, random);
  if (choice < 33) return withHeader(whole, random);
  return mutatedBytes(whole, random);
}

const brotliOf = (body: Buffer) => brotliCompressSync(body, { params: { 1: 1 } });

/** The body in several members, some of them empty, perhaps the last one cut off. */
function members(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, left = 1 + random.size(6); left > 0; left--) {
    const end = left === 1 ? body.length : at + random.below(body.length - at + 1);
    parts.push(gzipSync(body.subarray(at, end), fast));
    at = end;
    if (random.chance(0.2)) parts.push(gzipSync(Buffer.alloc(0), fast));
  }
  const whole = Buffer.concat(parts);
  return random.chance(0.2) ? whole.subarray(0, whole.length - random.size(30)) : whole;
}

const tails: ((random: Random) => Buffer)[] = [
  random => random.bytes(random.size(200)),
  random => Buffer.alloc(random.size(5_000)),
  () => Buffer.from([0x1f]),
  () => Buffer.from([0x1f, 0x8b]),
  () => Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
  () => Buffer.from("{}"),
];

/** The checksum or the length at the end. */
function withWrongEnd(whole: Buffer, random: Random): Buffer {
  const wrong = Buffer.from(whole);
  const at = whole.length - 1 - random.below(8);
  wrong[at] = wrong[at]! ^ (1 << random.below(8));
  return wrong;
}

/** Another method, reserved flags, or fields that the flags announce. */
function withHeader(whole: Buffer, random: Random): Buffer {
  const header = Buffer.from(whole.subarray(0, 10));
  const place = random.pick([0, 1, 2, 3, 3, 3, 8, 9]);
  header[place] = random.below(256);
  const fields = random.pick([
    Buffer.alloc(0),
    Buffer.from("name\0"),
    Buffer.from([2, 0, 1, 2]),
    Buffer.from([0xff, 0xff, 1]),
    Buffer.from([...Buffer.from("comment\0"), 0, 0]),
    Buffer.alloc(random.size(3_000), "n"),
  ]);
  return Buffer.concat([header, fields, whole.subarray(10)]);
}

const mebibyte = 1024 * 1024;
const bombs = new Map<string, Buffer>();

/** Just within the limit of 30 MB, just beyond it, and far beyond, after the body or alone. */
function bomb(body: Buffer, random: Random): Buffer {
  const size = random.pick([30 * mebibyte - 1, 30 * mebibyte, 30 * mebibyte + 1, 200 * mebibyte]);
  const filling = random.pick([" ", "[", "\0", "{},"]);
  const name = `${size} ${filling}`;
  const whole = bombs.get(name) ?? gzipSync(Buffer.alloc(size, filling), fast);
  bombs.set(name, whole);
  return random.chance(0.5) ? Buffer.concat([gzipSync(body, fast), whole]) : whole;
}
