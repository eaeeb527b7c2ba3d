// Random choices from a seed, so that the labeled set is the same for everybody.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(most: number): number {
    return Math.floor(this.next() * most);
  }

  pick<T>(list: readonly T[] | string): T {
    return list[this.below(list.length)] as T;
  }

  /** `size` characters of those given. */
  chars(size: number, from: string): string {
    return Array.from({ length: size }, () => this.pick<string>(from)).join("");
  }

  /** `#` becomes a digit, `N` one of 2 to 9, `M` one of 6 to 9, `A` a capital letter, `x` a hexadecimal digit. */
  shape(shape: string): string {
    const sets: Record<string, string> = {
      "#": digits,
      N: "23456789",
      M: "6789",
      A: capitals,
      x: "0123456789abcdef",
    };
    return shape.replace(/[#NMAx]/g, mark => this.pick<string>(sets[mark]!));
  }
}

export const digits = "0123456789";
export const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
export const letters = "abcdefghijklmnopqrstuvwxyz";
export const alphanumerics = capitals + letters + digits;
