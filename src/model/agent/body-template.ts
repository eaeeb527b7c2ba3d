// The JSON body of a call, with places for what a turn sends: `{{input}}` within a text, `"{{history}}"` as a value.
import type { AgentTurn } from "./call.ts";

/** Within a text they are escaped as JSON wants it. */
const textPlaces = ["input", "conversation_id", "request_id"];
/** In place of a whole text: a list of `{ role, content }`. */
const listPlaces = ["history", "messages"];

// A name is trimmed by code: a pattern that leaves its blanks out takes the cube of their number to find none.
const placePattern = /"\{\{\s*(history|messages)\s*\}\}"|\{\{([^{}]*)\}\}/g;

/** Of a filled body, in characters: a template may repeat its places, and a history grows. */
export const bodyCharsMax = 10_000_000;

/** Filled, the body would be longer than `bodyCharsMax`. */
export class BodyTooLarge extends Error {
  override name = "BodyTooLarge";
}

/** What is wrong with a template, in a sentence, or undefined. */
export function templateFault(template: string): string | undefined {
  for (const [, list, inner] of template.matchAll(placePattern)) {
    const name = inner?.trim() ?? "";
    if (list !== undefined || textPlaces.includes(name)) continue;
    if (listPlaces.includes(name)) {
      return `{{${name}}} becomes a list: write it as a value of its own, "{{${name}}}".`;
    }
    return `There is no {{${name}}}: use ${[...textPlaces, ...listPlaces].map(place => `{{${place}}}`).join(", ")}.`;
  }
  if (!/\{\{\s*input\s*\}\}|"\{\{\s*messages\s*\}\}"/.test(template)) {
    return "Add {{input}} where the user's input belongs.";
  }
  try {
    JSON.parse(fillTemplate(template, trial));
  } catch {
    return "Not valid JSON once filled in. Put placeholders within double quotes.";
  }
  return undefined;
}

// A quote in each: only within a text does its escape leave the body valid.
const trial: AgentTurn = { input: '"', history: [], conversationId: '"', requestId: '"', traceparent: "" };

/**
 * The body of a turn. All places are filled at once: what an input holds is never taken for a place. Throws
 * BodyTooLarge.
 */
export function fillTemplate(template: string, turn: AgentTurn): string {
  const texts = new Map<string, string>();
  let chars = template.length;
  return template.replace(placePattern, (place: string, list?: string, name?: string) => {
    const what = list ?? name!.trim();
    const text = texts.get(what) ?? textOf(what, turn) ?? place;
    texts.set(what, text);
    chars += text.length;
    if (chars > bodyCharsMax) throw new BodyTooLarge();
    return text;
  });
}

function textOf(place: string, turn: AgentTurn): string | undefined {
  const { input, history, conversationId, requestId } = turn;
  if (place === "input") return within(input);
  if (place === "conversation_id") return within(conversationId);
  if (place === "request_id") return within(requestId);
  if (place === "history") return JSON.stringify(history);
  return place === "messages" ? JSON.stringify([...history, { role: "user", content: input }]) : undefined;
}

function within(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
