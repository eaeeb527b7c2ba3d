// Tells without parsing whether attributes may have calls of tools when they are read as messages: most have none, and
// parsing them takes most of the time that conventions cost ingestion.
import type { Span } from "../../model/trace/trace.ts";
import { UnreadText } from "../../model/trace/unread-text.ts";

/** `attribute`: one with messages, or the prefix of a flattened list. Calls of `known` tools count for none. */
export function mayHaveCall(
  { attributes }: Span,
  attribute: string,
  known: ReadonlySet<string> | null,
): boolean {
  if (!attribute.endsWith(".")) return mayCallIn(attributes[attribute], known, wordOfCall.test(attribute));
  let hasCall = false;
  let namesOther = known === null;
  for (const key in attributes) {
    if (!key.startsWith(attribute)) continue;
    const value = attributes[key];
    if (typeof value === "object") return true;
    if (typeof value === "string" && wordOfCall.test(value)) {
      if (mayNameOther(value, known)) return true;
      hasCall = true;
    }
    hasCall ||= wordOfCall.test(key);
    if (nameAtEnd.test(key)) namesOther ||= typeof value !== "string" || !known!.has(value);
    if (hasCall && namesOther) return true;
  }
  return false;
}

/** `isOfCalls`: the attribute has nothing else. */
function mayCallIn(sent: unknown, known: ReadonlySet<string> | null, isOfCalls: boolean): boolean {
  const isUnread = sent instanceof UnreadText;
  if (isUnread && !isOfCalls && !sent.mayMatch(wordOfCall)) return false;
  const value = isUnread ? sent.read() : sent;
  if (typeof value !== "string") return typeof value === "object";
  return (isOfCalls || wordOfCall.test(value)) && mayNameOther(value, known);
}

/** JSON may escape the letters that are looked for. */
const escapedAscii = "\\u00";

/**
 * Every key and every type of a call has one of these words: see part-shapes.ts. One pattern is faster than a search
 * for each word, whose first letter is frequent.
 */
const wordOfCall = /[Tt]ool|[Ff]unction|_call|\\u00/;

/** Types of calls that are their own names: tools that the provider runs. */
const namelessCall = /(?<=search|interpreter|shell|computer|generation|patch)_call/;

/** Keys of a tool's name, and the value if it is a text without escapes; quotes of JSON within JSON have backslashes. */
const names = /["'](?:name|tool_name|toolName)(\\*["'])\s*:\s*(?:\1([^"'\\]*)\1)?/g;
const nameAtEnd = /\.(?:name|tool_name|toolName)$/;

function mayNameOther(text: string, known: ReadonlySet<string> | null): boolean {
  if (known === null || text.includes(escapedAscii) || namelessCall.test(text)) return true;
  for (const [, , name] of text.matchAll(names)) if (name === undefined || !known.has(name)) return true;
  return false;
}
