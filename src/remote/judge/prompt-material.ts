// Marks the untrusted texts of a prompt line by line, and lists the conversation around a reply.
import { type EarlierMessages, itemsLeftOut, type Material } from "../../model/judge/material.ts";
import { type Bounded, quotable } from "../../model/judge/prompt-bounds.ts";

// One token each in o200k_base, and none that begins the lines of a list.
const signs = [..."¤¬¶†‡※◎△▽░▒▓█▀▄═║╗╝├━┃∆√∞♪♫♦"];
const anySign = new RegExp(`[${signs.join("")}]`, "gu");

/** A character that none of the texts has: what they say can neither bear it nor feign to be without it. */
export function signFor(marker: string, texts: string[]): string {
  const first = Number.parseInt(marker.slice(0, 4), 16) % signs.length;
  const order = [...signs.slice(first), ...signs.slice(0, first)];
  return order.find(sign => !texts.some(text => text.includes(sign))) ?? order[0]!;
}

/** For estimates. */
export function withoutSigns(material: string): { plain: string; signs: number } {
  const plain = material.replace(anySign, "");
  return { plain, signs: material.length - plain.length };
}

export function marked(shown: Bounded, sign: string): Bounded {
  if (typeof shown === "string") return signed(shown, sign);
  return { ...shown, start: signed(shown.start, sign), end: signed(shown.end, sign) };
}

/** At the beginning of every line that is not blank, and within long lines. */
function signed(text: string, sign: string): string {
  return text
    .replaceAll(sign, "")
    .split(/([\n\r\u2028\u2029])/)
    .map(line => (/\S/.test(line) ? signedLine(line, sign) : line))
    .join("");
}

const lineMax = 200;

function signedLine(line: string, sign: string): string {
  let shown = "";
  for (let from = 0; from < line.length; ) {
    const end = line.length - from <= lineMax ? line.length : wordEnd(line, from + lineMax);
    shown += sign + line.slice(from, end);
    from = end;
  }
  return shown;
}

/** The last end of a word before this place, at most some words back: not every script has spaces between words. */
function wordEnd(line: string, at: number): number {
  const from = at - 40;
  const space = line.lastIndexOf(" ", at - 1);
  if (space > from) return space + 1;
  const last = [...segmenter.segment(line.slice(from, at))].at(-1)!.index;
  if (last > 0) return from + last;
  return /[\udc00-\udfff]/.test(line.charAt(at)) ? at - 1 : at;
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** All texts of a conversation, names included. */
export function textsOf(material: Material | undefined): string[] {
  const { items = [], offered = [] } = material ?? {};
  return [...items.flatMap(({ text, name = "", agent = "" }) => [quotable(text), name, agent]), ...offered];
}

/** The conversation as the judge reads it; null if it is not shown. */
export function conversationIn(material: Material | undefined, replyId: string, sign: string): object | null {
  if (!material) return null;
  const items = material.items.map((item, at) => {
    const { kind, text, name, agent, failed, is } = item;
    return {
      id: itemId(at),
      from: kind,
      ...(agent === undefined ? {} : { agent: marked(agent, sign) }),
      ...(name === undefined ? {} : { name: marked(name, sign) }),
      ...(failed ? { failed } : {}),
      ...(is
        ? { is: is === "reply" ? replyId : is }
        : { [kind === "tool_call" ? "arguments" : "text"]: marked(text, sign) }),
    };
  });
  const { tools, offered, complete } = material;
  return {
    tool_calls_shown: tools,
    ...(offered ? { tools: offered.map(name => marked(name, sign)) } : {}),
    ...missing(itemsLeftOut(material), complete),
    items,
  };
}

/** Messages before the user's input. */
export function earlierIn({ messages, leftOut }: EarlierMessages, sign: string): object {
  return {
    ...missing(leftOut, true),
    messages: messages.map(({ from, text }) => ({ from, text: marked(text, sign) })),
  };
}

function itemId(at: number): string {
  return `m${at + 1}`;
}

/** Says by its shape that something is missing, as a shortened text does. */
function missing(items: number, complete: boolean): object {
  return items === 0 && complete ? {} : { older_items_left_out: complete ? items : "unknown" };
}
