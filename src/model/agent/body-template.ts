// Templates of request bodies: JSON with placeholders, `{{input}}` inside a string or `"{{history}}"` as a value.
import type { AgentTurn } from "./call.ts";

/** Placeholders inside a string; their values are JSON-escaped. */
const textPlaceholders = ["input", "conversation_id", "request_id"];
/** Placeholders that replace a whole string by a list of `{ role, content }`. */
const listPlaceholders = ["history", "messages"];

// Names are trimmed in code: a pattern that skips the blanks itself takes cubic time when it does not match.
const placeholderPattern = /"\{\{\s*(history|messages)\s*\}\}"|\{\{([^{}]*)\}\}/g;

/** Limit of a filled body in characters: a template may repeat placeholders, and histories grow. */
export const bodyCharsMax = 10_000_000;

/** The filled body would be longer than `bodyCharsMax`. */
export class BodyTooLarge extends Error {
  override name = "BodyTooLarge";
}

/** What is wrong with the template, in one sentence; undefined if nothing is. */
export function templateFault(template: string): string | undefined {
  for (const [, list, inner] of template.matchAll(placeholderPattern)) {
    const name = inner?.trim() ?? "";
    if (list !== undefined || textPlaceholders.includes(name)) continue;
    if (listPlaceholders.includes(name)) {
      return `{{${name}}} becomes a list: write it as a whole value, "{{${name}}}".`;
    }
    const known = [...textPlaceholders, ...listPlaceholders].map(placeholder => `{{${placeholder}}}`);
    return `Unknown placeholder {{${name}}}. Use ${known.join(", ")}.`;
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

// Every value is a quote: escaped, it leaves the body valid only inside a string.
const trial: AgentTurn = { input: '"', history: [], conversationId: '"', requestId: '"', traceparent: "" };

/**
 * The body of a turn. One pass fills all placeholders, so a placeholder inside an input stays text. Throws
 * BodyTooLarge.
 */
export function fillTemplate(template: string, turn: AgentTurn): string {
  const texts = new Map<string, string>();
  let chars = template.length;
  return template.replace(placeholderPattern, (match: string, list?: string, inner?: string) => {
    const name = list ?? inner!.trim();
    const text = texts.get(name) ?? textOf(name, turn) ?? match;
    texts.set(name, text);
    chars += text.length;
    if (chars > bodyCharsMax) throw new BodyTooLarge();
    return text;
  });
}

function textOf(name: string, turn: AgentTurn): string | undefined {
  const { input, history, conversationId, requestId } = turn;
  if (name === "input") return escaped(input);
  if (name === "conversation_id") return escaped(conversationId);
  if (name === "request_id") return escaped(requestId);
  if (name === "history") return JSON.stringify(history);
  return name === "messages" ? JSON.stringify([...history, { role: "user", content: input }]) : undefined;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
