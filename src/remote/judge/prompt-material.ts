// Marks the untrusted texts of a prompt word by word, and lists the conversation around a reply.
import { type EarlierMessages, itemsLeftOut, type Material } from "../../model/judge/material.ts";
import { type Bounded, quotable } from "../../model/judge/prompt-bounds.ts";

const signs = [..."¤¦§¬†‡※⁂⁑⁕⁜⌂⌑⌖⌘⌬⍟⎈⏣■□▢▣▤▥▦▧▨▩▪▫▰▱◆◇◈◉◊◌◍◎●◐◑◒◓◘◙◚◛◦◧◨◩◪◫★☆☉☍♁♆⚘⚙⛋⛶✢✣✤✥✱✲✳✻❂❇❉❋❖"];

/** A character that none of the texts has: what they say can neither bear it nor feign to be without it. */
export function signFor(marker: string, texts: string[]): string {
  const first = Number.parseInt(marker.slice(0, 4), 16) % signs.length;
  const order = [...signs.slice(first), ...signs.slice(0, first)];
  return order.find(sign => !texts.some(text => text.includes(sign))) ?? order[0]!;
}

export function marked(shown: Bounded, sign: string): Bounded {
  if (typeof shown === "string") return signed(shown, sign);
  return { ...shown, start: signed(shown.start, sign), end: signed(shown.end, sign) };
}

// Before every word, and within long runs where a word ends: not every script has spaces between words.
function signed(text: string, sign: string): string {
  return text.replaceAll(sign, "").replace(/\S+/gu, run => {
    if (run.length <= runMax) return sign + run;
    let shown = "";
    let since = runMax;
    for (const { segment } of segmenter.segment(run)) {
      if (since >= runMax) {
        shown += sign;
        since = 0;
      }
      shown += segment;
      since += segment.length;
    }
    return shown;
  });
}

const runMax = 16;
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** All texts of a conversation, names included. */
export function textsOf(material: Material | undefined): string[] {
  return (material?.items ?? []).flatMap(({ text, name = "", agent = "" }) => [quotable(text), name, agent]);
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
  return { tool_calls_shown: material.tools, ...missing(itemsLeftOut(material), material.complete), items };
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
