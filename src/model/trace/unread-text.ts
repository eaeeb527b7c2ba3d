// A text that is read from a request only if something is derived from it: columns need two or three of a trace's long texts.

export class UnreadText {
  #read: (() => string) | null;
  #text = "";

  constructor(read: () => string) {
    this.#read = read;
  }

  read(): string {
    if (this.#read) this.#text = this.#read();
    this.#read = null;
    return this.#text;
  }
}
