// A seeded source of random choices: the same seed, path and number always give the same mutant.

/** sfc32, which passes PractRand and needs about 3 ns a number. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, path: string, number: number) {
    this.#a = seed | 0;
    this.#b = Math.imul(number, 0x9e3779b1) ^ (number / 2 ** 32);
    this.#c = [...path].reduce((hash, char) => Math.imul(hash ^ char.charCodeAt(0), 16777619), 0x811c9dc5);
    for (let at = 0; at < 12; at++) this.#next();
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** An integer from 0 to below `count`. */
  below(count: number): number {
    return Math.floor((this.#next() / 2 ** 32) * count);
  }

  chance(probability: number): boolean {
    return this.#next() < probability * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** Mostly small, now and then up to `max`. */
  size(max: number): number {
    return Math.floor(max ** (this.#next() / 2 ** 32));
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at++) bytes[at] = this.#next() >>> 8;
    return bytes;
  }
}
