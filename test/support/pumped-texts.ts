// Texts that cost a backtracking regular expression the most: the way to each of its repetitions, then a pumped piece.

/** A long text is `before`, `piece` as often as it takes, and `after`. */
export type Pump = { before: string; piece: string; after: string };

type Node =
  | { kind: "chars"; test: (char: string) => boolean }
  | { kind: "all" | "any"; nodes: Node[] }
  | { kind: "repeat"; node: Node; min: number; max: number }
  | { kind: "look"; node: Node };

const nothing: Node = { kind: "all", nodes: [] };

/** At most a few hundred, without those that differ in nothing the expression asks for. */
export function pumpsOf({ source, flags }: RegExp): Pump[] {
  const atoms: ((char: string) => boolean)[] = [];
  const literals = new Set<string>();
  const root = parse(source, flags, atoms, literals);
  const alphabet = kinds([...common, ...literals], atoms);
  const pumps = new Map<string, Pump>();
  const add = (pump: Pump) => pumps.set(JSON.stringify(pump), pump);
  for (const { before, body } of repetitions(root, "", alphabet)) {
    const inside = alphabet.filter(char => matches(body, char));
    const outside = alphabet.filter(char => !matches(body, char));
    const pieces = [...inside, ...examples(body, alphabet), `${before}${examples(body, alphabet)[0]}`];
    for (const piece of pieces) {
      if (piece === "") continue;
      for (const start of new Set(["", before])) {
        for (const after of ["", ...outside]) add({ before: start, piece, after });
      }
    }
  }
  return [...pumps.values()];
}

export function textOf({ before, piece, after }: Pump, length: number): string {
  return before + piece.repeat(Math.ceil(length / piece.length)) + after;
}

const common = [..."a \nA0_-/<.,:;\"'[]{}()\\=@!\t\r\u00a0é中\u{1f600}\u0000"];

/** One character of each kind that the expression tells apart. */
function kinds(chars: string[], atoms: ((char: string) => boolean)[]): string[] {
  const byKind = new Map<string, string>();
  for (const char of chars) {
    const kind = atoms.map(atom => (atom(char) ? 1 : 0)).join("");
    if (!byKind.has(kind)) byKind.set(kind, char);
  }
  return [...byKind.values()];
}

/** Every unbounded repetition, with the shortest text that leads to it. */
function* repetitions(
  node: Node,
  before: string,
  alphabet: string[],
): Generator<{ before: string; body: Node }> {
  if (node.kind === "repeat") {
    if (node.max === Number.POSITIVE_INFINITY) yield { before, body: node.node };
    yield* repetitions(node.node, before, alphabet);
  } else if (node.kind === "look") {
    yield* repetitions(node.node, before, alphabet);
  } else if (node.kind === "any") {
    for (const option of node.nodes) yield* repetitions(option, before, alphabet);
  } else if (node.kind === "all") {
    let so = before;
    for (const part of node.nodes) {
      yield* repetitions(part, so, alphabet);
      so += examples(part, alphabet)[0];
    }
  }
}

/** The shortest text of each option, at least one. */
function examples(node: Node, alphabet: string[]): string[] {
  if (node.kind === "chars") return [alphabet.find(node.test) ?? ""];
  if (node.kind === "look") return [""];
  if (node.kind === "repeat") return [examples(node.node, alphabet)[0]!.repeat(node.min)];
  if (node.kind === "any") return node.nodes.map(option => examples(option, alphabet)[0]!);
  return [node.nodes.map(part => examples(part, alphabet)[0]).join("")];
}

/** Whether one of the character classes inside has it. */
function matches(node: Node, char: string): boolean {
  if (node.kind === "chars") return node.test(char);
  return "nodes" in node ? node.nodes.some(part => matches(part, char)) : matches(node.node, char);
}

/** What stands in a class or an escape, also by its number. */
function charactersOf(written: string): string[] {
  const numbers = written.matchAll(/\\(?:u\{([\da-f]+)\}|[ux]([\da-f]+))/gi);
  return [
    ...written,
    ...Array.from(numbers, ([, long, short]) => String.fromCodePoint(Number.parseInt(long ?? short!, 16))),
  ];
}

const atom =
  /\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Z]|k<[^>]*>|.)|[^()|]/suy;
const quantifier = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const group = /\((?:\?(?:<?[=!]|<\w+>|[a-z]*(?:-[a-z]+)?:))?/y;

function parse(
  source: string,
  flags: string,
  atoms: ((char: string) => boolean)[],
  literals: Set<string>,
): Node {
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at += found[0].length;
    return found;
  };
  const charsOf = (written: string): Node => {
    if (/^(?:[\^$]|\\(?:[bB]|[1-9]|k<.*))$/.test(written)) return nothing;
    const one = new RegExp(`^(?:${written})$`, flags.replaceAll(/[gym]/g, ""));
    const test = (char: string) => one.test(char);
    for (const char of charactersOf(written)) if (test(char)) literals.add(char);
    atoms.push(test);
    return { kind: "chars", test };
  };
  const alternatives = (): Node => {
    const options: Node[] = [];
    do options.push(sequence());
    while (source[at] === "|" && ++at > 0);
    return options.length === 1 ? options[0]! : { kind: "any", nodes: options };
  };
  const sequence = (): Node => {
    const nodes: Node[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") {
      const opened = take(group);
      let node: Node;
      if (opened) {
        const inner = alternatives();
        at++;
        node = /\?<?[=!]/.test(opened[0]) ? { kind: "look", node: inner } : inner;
      } else {
        node = charsOf(take(atom)![0]);
      }
      const times = take(quantifier);
      if (times) {
        const [text, least, comma, most] = times;
        const min = least === undefined ? (text.startsWith("+") ? 1 : 0) : Number(least);
        const isBounded = text.startsWith("?") || (least !== undefined && (comma === "" || most !== ""));
        node = {
          kind: "repeat",
          node,
          min,
          max: isBounded ? Number(most || least || 1) : Number.POSITIVE_INFINITY,
        };
      }
      nodes.push(node);
    }
    return { kind: "all", nodes };
  };
  return alternatives();
}
