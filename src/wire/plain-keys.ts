// The keys of attributes by their hashes: notices one that an object has twice, and those that columns are derived from.
import { columnAttributes } from "../reading/derived/column-attributes.ts";
import { isSignOfOwnNames } from "../reading/presets.ts";
import { unusual } from "./plain-cursor.ts";

const slots = 1024;
const keysMax = 512;

/** Of several objects at once, each with a number. Throws `unusual` for equal hashes, and for too many keys. */
export class KeySet {
  readonly #hashes = new Int32Array(slots);
  readonly #owners = new Int32Array(slots);
  /** The round in which a slot was taken. */
  readonly #rounds = new Int32Array(slots);
  #round = 0;
  #owner = 0;
  #size = 0;

  /** Forgets all keys, and returns the number of a new object. */
  clear(): number {
    this.#round++;
    this.#size = 0;
    return this.owner();
  }

  owner(): number {
    return ++this.#owner;
  }

  add(owner: number, hash: number): void {
    if (++this.#size > keysMax) throw unusual;
    let slot = hash & (slots - 1);
    while (this.#rounds[slot] === this.#round) {
      if (this.#hashes[slot] === hash && this.#owners[slot] === owner) throw unusual;
      slot = (slot + 1) & (slots - 1);
    }
    this.#rounds[slot] = this.#round;
    this.#hashes[slot] = hash;
    this.#owners[slot] = owner;
  }
}

/** Of the bytes from `from` up to `to`. */
export function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash;
}

/** Traces have the same keys again and again. Decoding one takes several times as long as finding it here. */
const knownKeys = new Map<number, { key: string; bytes: Buffer }>();
const knownKeysMax = 2_000;
const knownBytesMax = 64;

/** The key from `from` up to `to`, whose hash is known. */
export function keyAt(bytes: Buffer, from: number, to: number, keyHash: number): string {
  const known = knownKeys.get(keyHash);
  if (known && isSame(known.bytes, bytes, from, to)) return known.key;
  const key = bytes.toString("utf8", from, to);
  if (to - from > knownBytesMax) return key;
  if (knownKeys.size >= knownKeysMax) knownKeys.clear();
  knownKeys.set(keyHash, { key, bytes: Buffer.from(key) });
  return key;
}

function isSame(one: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (one.length !== to - from) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== bytes[from + i]) return false;
  return true;
}

/** Keys by their hashes, and whether a convention with names of its own may recognize a span by them; rather another one than two that are equal. */
const signKeys = new Map<number, { bytes: Buffer; isSign: boolean }>();

/** Whether a convention with names of its own may recognize a span by the key from `from` up to `to`, whose hash is known. */
export function isSignAt(bytes: Buffer, from: number, to: number, keyHash: number): boolean {
  const known = signKeys.get(keyHash);
  if (known && isSame(known.bytes, bytes, from, to)) return known.isSign;
  const key = bytes.toString("utf8", from, to);
  const isSign = isSignOfOwnNames(key);
  if (to - from > knownBytesMax) return isSign;
  if (signKeys.size >= knownKeysMax) signKeys.clear();
  signKeys.set(keyHash, { bytes: Buffer.from(key), isSign });
  return isSign;
}

const messageEvents = Buffer.from("gen_ai.");

/** Whether an event with the name from `from` up to `to` may have messages. */
export function isOfMessages(bytes: Uint8Array, from: number, to: number): boolean {
  const end = from + messageEvents.length;
  return end <= to && isSame(messageEvents, bytes, from, end);
}

export const serviceNameKey = "service.name";

const listedByHash = new Map<number, { key: string; bytes: Buffer }>();
for (const key of [serviceNameKey, ...columnAttributes]) {
  const bytes = Buffer.from(key);
  listedByHash.set(hashOf(bytes, 0, bytes.length), { key, bytes });
}

/** The key from `from` up to `to`, whose hash is known, if columns are derived from it; else null. */
export function listedAt(bytes: Uint8Array, from: number, to: number, keyHash: number): string | null {
  const listed = listedByHash.get(keyHash);
  return listed && isSame(listed.bytes, bytes, from, to) ? listed.key : null;
}
