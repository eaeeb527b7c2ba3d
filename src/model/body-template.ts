// The JSON body of a call, with places for what a turn sends: `{{input}}` within a text, `"{{history}}"` as a value.
import type { AgentTurn } from "./agent-call.ts";

/** Within a text they are escaped as JSON wants it. */
const textPlaces = ["input", "conversation_id", "request_id"];
/** In place of a whole text: a list of `{ role, content }`. */
const listPlaces = ["history", "messages"];

const placePattern = /"\{\{(history|messages)\}\}"|\{\{\s*([^{}]*?)\s*\}\}/g;

/** What is wrong with a template, in a sentence, or undefined. */
export function templateFault(template: string): string | undefined {
  for (const [, list, name] of template.matchAll(placePattern)) {
    if (list !== undefined || textPlaces.includes(name!)) continue;
    if (listPlaces.includes(name!)) {
      return `{{${name}}} becomes a list: write it as a value of its own, "{{${name}}}".`;
    }
    return `There is no {{${name}}}: use ${[...textPlaces, ...listPlaces].map(place => `{{${place}}}`).join(", ")}.`;
  }
  if (!/\{\{\s*input\s*\}\}|"\{\{messages\}\}"/.test(template)) {
    return "It sends the input nowhere: put {{input}} where it belongs.";
  }
  try {
    JSON.parse(fillTemplate(template, trial));
  } catch {
    return "It is not valid JSON once it is filled. Places belong within double quotes.";
  }
  return undefined;
}

const trial: AgentTurn = { input: '"', history: [], conversationId: "c", requestId: "r", traceparent: "" };

/** The body of a turn. All places are filled at once: what an input holds is never taken for a place. */
export function fillTemplate(template: string, turn: AgentTurn): string {
  const messages = [...turn.history, { role: "user", content: turn.input }];
  return template.replace(placePattern, (place: string, list?: string, name?: string) => {
    if (list !== undefined) return JSON.stringify(list === "history" ? turn.history : messages);
    if (name === "input") return within(turn.input);
    if (name === "conversation_id") return within(turn.conversationId);
    return name === "request_id" ? within(turn.requestId) : place;
  });
}

function within(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
