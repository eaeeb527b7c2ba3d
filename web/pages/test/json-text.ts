// Positions in a JSON text: the first syntax error, and the range of the value at a path.

export type TextFault = { message: string; offset: number; line: number; column: number };

export type ReadText = { ok: true; value: unknown } | { ok: false; fault: TextFault };

/** Keys and positions from the top. */
type Path = (string | number)[];
type Span = { start: number; end: number };

/** Lines and columns count from 1. Hand-written, because browsers report the position only for some errors. */
export function readText(text: string): ReadText {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    const fault = new Scan(text).fault() ?? { message: "Nested too deeply.", offset: 0 };
    return { ok: false, fault: { ...fault, ...positionOf(text, fault.offset) } };
  }
}

export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** The range of the value at the path, or of its nearest existing parent; the text must parse. */
export function placeOf(text: string, path: string): Span {
  const wanted = keysOf(path);
  let best: Span & { depth: number } = { start: 0, end: 0, depth: -1 };
  new Scan(text, (at, span) => {
    if (at.length > best.depth && at.length <= wanted.length && at.every((key, i) => key === wanted[i])) {
      best = { ...span, depth: at.length };
    }
  }).fault();
  return best;
}

/** Splits a path such as `assertions[1]["a name"]` into its keys. */
export function keysOf(path: string): Path {
  const steps = path.matchAll(/\.?([\w$]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g);
  return [...steps].map(([, name, position, quoted]) =>
    position !== undefined ? Number(position) : quoted !== undefined ? JSON.parse(quoted) : name!,
  );
}

/** Thrown and caught only in this file. */
class Stop extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const string = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|\x7f|[\x80-\x9f])*"/uy;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /true|false|null/y;
const depthMax = 2_000;

class Scan {
  readonly #text: string;
  readonly #found: (path: Path, span: Span) => void;
  #at = 0;

  constructor(text: string, found: (path: Path, span: Span) => void = () => {}) {
    this.#text = text;
    this.#found = found;
  }

  fault(): { message: string; offset: number } | undefined {
    try {
      this.#value([]);
      if (this.#next() !== undefined) this.#stop("Unexpected text after the end of the document.");
      return undefined;
    } catch (error) {
      if (error instanceof Stop) return { message: error.message, offset: error.offset };
      throw error;
    }
  }

  #value(path: Path): void {
    const opening = this.#next();
    const start = this.#at;
    if (path.length > depthMax) this.#stop("Nested too deeply.");
    if (opening === "{") this.#members(path);
    else if (opening === "[") this.#items(path);
    else if (opening === '"') this.#string();
    else if (!this.#take(number) && !this.#take(word)) {
      this.#stop(opening === undefined ? "Unexpected end of text." : "Expected a value.");
    }
    this.#found(path, { start, end: this.#at });
  }

  #members(path: Path): void {
    this.#at += 1;
    if (this.#skip("}")) return;
    for (;;) {
      if (this.#next() !== '"') this.#stop("Expected a property name in double quotes.");
      const name: string = JSON.parse(this.#string());
      if (!this.#skip(":")) this.#stop("Expected “:” after the name.");
      this.#value([...path, name]);
      if (this.#skip("}")) return;
      if (!this.#skip(",")) this.#stop("Expected “,” or “}”.");
    }
  }

  #items(path: Path): void {
    this.#at += 1;
    if (this.#skip("]")) return;
    for (let position = 0; ; position++) {
      this.#value([...path, position]);
      if (this.#skip("]")) return;
      if (!this.#skip(",")) this.#stop("Expected “,” or “]”.");
    }
  }

  #string(): string {
    return this.#take(string) ?? this.#stop("Unterminated string, or a character that must be escaped.");
  }

  /** The next character that is not whitespace; undefined at the end. */
  #next(): string | undefined {
    while (/^[ \t\n\r]$/.test(this.#text[this.#at] ?? "")) this.#at += 1;
    return this.#text[this.#at];
  }

  #skip(character: string): boolean {
    if (this.#next() !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#at;
    const [found] = token.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #stop(message: string): never {
    throw new Stop(message, this.#at);
  }
}
