// A text that counts how often it is read, so that what a search costs is known exactly, and can be limited.

/** The reader may read no more. */
export class OutOfSteps extends Error {}

/** For readers that take String objects, as the engine of patterns does, and read them by `charCodeAt` and `indexOf`. */
export class MeteredText extends String {
  /** Steps that may still be taken. */
  left: number;
  readonly #text: string;

  constructor(text: string, stepsMax: number) {
    super(text);
    this.#text = text;
    this.left = stepsMax;
  }

  /** Throws OutOfSteps. */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new OutOfSteps();
  }

  override charCodeAt(at: number): number {
    this.spend(1);
    return this.#text.charCodeAt(at);
  }

  /** Searches many characters in the time of one step. */
  override indexOf(search: string, from = 0): number {
    const found = this.#text.indexOf(search, from);
    this.spend(1 + Math.ceil(((found === -1 ? this.length : found) - from) / 32));
    return found;
  }
}
