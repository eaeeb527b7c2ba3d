// A text that is read from a request only if something is derived from it: columns need two or three of a trace's long texts.

export class UnreadText {
  readonly read: () => string;

  constructor(read: () => string) {
    this.read = read;
  }
}
