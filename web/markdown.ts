// Reads Markdown into a fixed set of elements. Raw HTML, images and unsafe links stay text, so nothing in it can act.
import { lexer, type Token, type Tokens } from "marked";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "del"; children: Inline[] }
  /** `target`: the address as the browser understands it, to be shown beside the text. */
  | { kind: "link"; href: string; target: string; children: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; start: number | null; items: Block[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

/** Longer texts stay text. Hostile ones of this length take up to 0.1 s of a core to read, twice as long ones 0.4 s. */
const textMax = 10_000;
const depthMax = 12;

/** Null: without markup, too long or nested too deeply, so that it is better shown as it was written. */
export function readMarkdown(text: string): Block[] | null {
  if (text.length > textMax) return null;
  let blocks: Block[];
  try {
    blocks = lexer(text, { gfm: true, breaks: true }).flatMap(token => blockOf(token, 0));
  } catch (error) {
    // Nested deeper than the stack.
    if (error instanceof RangeError || error instanceof TooDeep) return null;
    throw error;
  }
  return blocks.every(isPlain) ? null : blocks;
}

class TooDeep extends Error {}

function isPlain(block: Block): boolean {
  return (
    block.kind === "paragraph" && block.children.every(({ kind }) => kind === "text" || kind === "break")
  );
}

function blockOf(token: Token, depth: number): Block[] {
  if (depth > depthMax) throw new TooDeep();
  const below = (tokens: Token[] = []) => tokens.flatMap(one => blockOf(one, depth + 1));
  switch (token.type) {
    case "space":
      return [];
    case "hr":
      return [{ kind: "rule" }];
    case "code":
      return [{ kind: "code", text: (token as Tokens.Code).text }];
    case "heading": {
      const { depth: level, tokens } = token as Tokens.Heading;
      return [{ kind: "heading", level, children: inlines(tokens, depth) }];
    }
    case "blockquote":
      return [{ kind: "quote", blocks: below((token as Tokens.Blockquote).tokens) }];
    case "list": {
      const { ordered, start, items } = token as Tokens.List;
      return [
        {
          kind: "list",
          start: ordered ? Number(start) || 0 : null,
          items: items.map(({ tokens, task, checked }) => [
            ...(task ? [paragraph(checked ? "☑" : "☐")] : []),
            ...below(tokens.filter(({ type }) => type !== "checkbox")),
          ]),
        },
      ];
    }
    case "table": {
      const { header, rows } = token as Tokens.Table;
      const cells = (row: Tokens.TableCell[]) => row.map(({ tokens }) => inlines(tokens, depth));
      return [{ kind: "table", head: cells(header), rows: rows.map(cells) }];
    }
    case "paragraph":
    case "text": {
      const { tokens, text } = token as Tokens.Paragraph;
      return [{ kind: "paragraph", children: tokens ? inlines(tokens, depth) : [{ kind: "text", text }] }];
    }
    default:
      return [paragraph(token.raw.trimEnd())];
  }
}

function paragraph(text: string): Block {
  return { kind: "paragraph", children: [{ kind: "text", text }] };
}

function inlines(tokens: Token[], depth: number): Inline[] {
  if (depth > depthMax) throw new TooDeep();
  return tokens.flatMap(token => inlineOf(token, depth + 1));
}

function inlineOf(token: Token, depth: number): Inline[] {
  switch (token.type) {
    case "br":
      return [{ kind: "break" }];
    case "codespan":
      return [{ kind: "code", text: (token as Tokens.Codespan).text }];
    case "strong":
    case "em":
    case "del":
      return [{ kind: token.type, children: inlines((token as Tokens.Strong).tokens, depth) }];
    case "link": {
      const { href, tokens } = token as Tokens.Link;
      const url = safeUrl(href);
      if (!url) return [{ kind: "text", text: token.raw }];
      return [{ kind: "link", href: url.href, target: targetOf(url), children: inlines(tokens, depth) }];
    }
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? inlines(tokens, depth) : [{ kind: "text", text }];
    }
    case "escape":
      return [{ kind: "text", text: (token as Tokens.Escape).text }];
    default:
      return [{ kind: "text", text: token.raw }];
  }
}

const protocols = ["http:", "https:", "mailto:"];

/** Null unless absolute and of the web or an email address. */
function safeUrl(href: string): URL | null {
  const url = URL.parse(href);
  return url && protocols.includes(url.protocol) && url.username === "" && url.password === "" ? url : null;
}

/** "example.com/label?x=1": the host in ASCII, so that letters that only look alike show. */
function targetOf({ protocol, host, pathname, search, hash }: URL): string {
  if (protocol === "mailto:") return pathname;
  const scheme = protocol === "https:" ? "" : `${protocol}//`;
  return `${scheme}${host}${pathname === "/" ? "" : pathname}${search}${hash}`;
}
