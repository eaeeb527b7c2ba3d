// Finds where the passages are that a judge quoted: its own word for it is only a hint.
import type { GivenVerdict, QuoteHint } from "../model/judge/call.ts";
import type { SemanticQuestion } from "../model/judge/judge.ts";
import type { Place, Quote, QuoteSource } from "../model/judge/material.ts";
import { quotableItem } from "../model/judge/material.ts";
import { quotes, wordsShown } from "../model/judge/quotations.ts";
import { oncePerText } from "../model/once-per-text.ts";

type Source = { hint: QuoteHint; from: QuoteSource; text: string; place: Place | null };

export type Asked = Pick<
  SemanticQuestion,
  "response" | "userInput" | "reference" | "material" | "replyPlace" | "inputPlace"
>;

export class QuoteFinder {
  readonly #wordsOf = oncePerText(wordsShown);

  /** The passages of a verdict that holds, each at its place. */
  quotesOf(given: GivenVerdict, asked: Asked): Quote[] {
    const { own, others } = sourcesOf(asked);
    const isOwn = given.quotation === "found";
    const evidence =
      given.quotation === "empty" || given.quotation === "trivial"
        ? undefined
        : this.#find(given.evidence, given.evidenceHint, isOwn ? own : others);
    const comparison =
      given.comparison === "found"
        ? this.#find(given.comparedWith, given.comparisonHint, [...others, ...own])
        : undefined;
    return [
      // What is not the agent's own shows nothing of it, and can only be what its reply is compared with.
      ...(evidence ? [quoteOf(isOwn ? "evidence" : "comparison", given.evidence, evidence)] : []),
      ...(comparison ? [quoteOf("comparison", given.comparedWith, comparison)] : []),
    ];
  }

  /** The source that the judge named, if the passage is in it, else the first that has it. */
  #find(passage: string, hint: QuoteHint | null, sources: Source[]): Source | undefined {
    const named = sources.filter(source => source.hint === hint);
    return [...named, ...sources].find(({ text }) => quotes(this.#wordsOf(text), passage));
  }
}

/** What the agent said and did, the reply first; and everything else. The newest first. */
function sourcesOf({ response, userInput, reference, material, replyPlace, inputPlace }: Asked) {
  const items = (material?.items ?? []).flatMap((item, at): Source[] => {
    const { kind, is, spanId, attribute } = item;
    if (is) return [];
    return [{ hint: at, from: kind, text: quotableItem(item), place: { spanId, attribute } }];
  });
  const ownKinds: QuoteSource[] = ["assistant", "tool_call"];
  const reply: Source = { hint: "reply", from: "reply", text: response, place: replyPlace ?? null };
  const typed: Source[] =
    userInput === null
      ? []
      : [{ hint: "user_input", from: "user", text: userInput, place: inputPlace ?? null }];
  const references: Source[] =
    reference === undefined ? [] : [{ hint: "reference", from: "reference", text: reference, place: null }];
  const newest = items.reverse();
  return {
    own: [reply, ...newest.filter(({ from }) => ownKinds.includes(from))],
    others: [...newest.filter(({ from }) => !ownKinds.includes(from)), ...typed, ...references],
  };
}

function quoteOf(as: Quote["as"], text: string, { from, place }: Source): Quote {
  return { as, text, from, spanId: place?.spanId ?? null, attribute: place?.attribute ?? null };
}
