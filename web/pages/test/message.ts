// The user's message of tests that cannot be run manually: it is never sent, so nobody is asked for it.
import { isRecord } from "../../record.ts";
import type { Doc } from "./document.ts";

/** Whether the form asks what the user says: the test can be run manually, or says more than one message. */
export function asksForMessage(document: Doc, isCallable: boolean): boolean {
  const { turns, inputs, repeats, passiveBehavior } = document;
  if (isCallable || passiveBehavior === "manual_only" || inputs !== undefined || repeats !== undefined)
    return true;
  return turns !== undefined && (!Array.isArray(turns) || turns.length > 1);
}

/** With the scenario or the name as the message if there is none: an active test has one. */
export function withMessage(document: Doc): Doc {
  const { turns = [], scenario, name } = document;
  if (!Array.isArray(turns) || turns.length > 1) return document;
  const [turn = {}] = turns;
  if (!isRecord(turn) || !["", undefined].includes(turn["input"] as string)) return document;
  const text = [scenario, name].find(one => typeof one === "string" && /\S/.test(one)) ?? "Hello";
  return { ...document, turns: [{ ...turn, input: text }] };
}
