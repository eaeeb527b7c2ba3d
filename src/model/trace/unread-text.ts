// A text that is read from a request only if something is derived from it: columns need two or three of a trace's long texts.

export class UnreadText {
  readonly #sent: () => string;
  #read: (() => string) | null;
  #text = "";

  /** `sent`: its bytes, each as one character. */
  constructor(read: () => string, sent: () => string) {
    this.#read = read;
    this.#sent = sent;
  }

  read(): string {
    if (this.#read) this.#text = this.#read();
    this.#read = null;
    return this.#text;
  }

  /** False: the text does not match either. `pattern`: of ASCII characters that stand in a text as they are, escapes apart. */
  mayMatch(pattern: RegExp): boolean {
    return pattern.test(this.#read ? this.#sent() : this.#text);
  }
}
