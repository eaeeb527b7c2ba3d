// The keys of attributes by their hashes: notices one that an object has twice.
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
