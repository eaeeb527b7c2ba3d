// The keys of attributes by their hashes: notices one that an object has twice, and knows which of them are read.
import { columnAttributes } from "../reading/derived/column-attributes.ts";
import { isSignOfOwnNames } from "../reading/presets.ts";
import { unusual } from "./unusual.ts";

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

/** Of the bytes from `from` up to `to`; negative if one of them is beyond ASCII. */
export function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  let bits = 0;
  for (let i = from; i < to; i++) {
    bits |= bytes[i]!;
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  return bits > 127 ? hash | 0x80000000 : hash & 0x7fffffff;
}

export const serviceNameKey = "service.name";

/**
 * What is known of a key. `isRead`: columns are derived from it. `isSign`: a convention with names of its own may recognize a span
 * by it.
 */
export type KnownKey = { key: string; bytes: Buffer; isRead: boolean; isSign: boolean };

/** Traces have the same keys again and again. Decoding one takes several times as long as finding it here. */
const knownKeys = new Map<number, KnownKey>();
const knownKeysMax = 2_000;
const knownBytesMax = 64;

/** The key from `from` up to `to`, whose hash is known. */
export function keyAt(bytes: Buffer, from: number, to: number, keyHash: number): KnownKey {
  const known = knownKeys.get(keyHash);
  if (known && known.bytes.length === to - from && isAt(known.bytes, bytes, from)) return known;
  const key = bytes.toString("utf8", from, to);
  const isRead = columnAttributes.has(key);
  const made = { key, bytes: Buffer.from(key), isRead, isSign: isSignOfOwnNames(key) };
  if (to - from > knownBytesMax) return made;
  // Rather another one than two that have the same hash.
  if (knownKeys.size >= knownKeysMax) knownKeys.clear();
  knownKeys.set(keyHash, made);
  return made;
}

const messageEvents = Buffer.from("gen_ai.");

/** Whether an event with the name from `from` up to `to` may have messages. */
export function isOfMessages(bytes: Uint8Array, from: number, to: number): boolean {
  return to - from >= messageEvents.length && isAt(messageEvents, bytes, from);
}

function isAt(one: Uint8Array, bytes: Uint8Array, from: number): boolean {
  for (let i = 0; i < one.length; i++) if (one[i] !== bytes[from + i]) return false;
  return true;
}
