// The frame of every prompt: the constant part first, then what is asked, then the material between marks, then the task again.
import type { Draw } from "./canaries.ts";
import { noResultsNote, redactedNote } from "./prompt-texts.ts";

/**
 * One call: `material` is the only part that quotes a trace, but for single words that known questions ask about. `echo`: the
 * words at the beginning and the end of the prompt, which every answer repeats; a server that cuts a prompt to its context
 * loses the first.
 */
export type Prompt = { instructions: string; material: string; echo: Echo };

/** `first` is that of the prompt's version, so that providers can cache the beginning; `last` is drawn for each call. */
export type Echo = { first: string; last: string };

const firstWord = "tamarind";

/** The beginning of all instructions. */
export const opening = `The first word is "${firstWord}". Every answer repeats it as "first_word", and the last word of the prompt as "last_word".`;

const lastWords =
  "acorn anchor apricot badger bamboo beacon birch bramble candle canyon cedar cobalt comet copper coral cricket dahlia ember falcon fennel garnet ginger glacier hazel heron indigo ivory jasper juniper kestrel lantern lilac linden magnet maple marble meadow nectar nutmeg oasis olive onyx orchid otter pebble pepper pigeon plum poplar quartz raven saffron sequoia sparrow spruce summit thistle timber topaz tulip velvet walnut willow zephyr".split(
    " ",
  );

export function echoOf(draw: Draw): Echo {
  return { first: firstWord, last: lastWords[draw(lastWords.length)]! };
}

type Marks = {
  marker: string;
  sign: string;
  redacted: string[] | undefined;
  toolResults?: false | undefined;
};

/** `constant` is the same in every call of a kind: providers bill the beginning that they have seen before at less. */
export function instructed(
  constant: string,
  asked: object,
  { marker, sign, redacted, toolResults }: Marks,
): string {
  const note = `${redacted ? ` ${redactedNote(redacted)}` : ""}${toolResults === false ? ` ${noResultsNote}` : ""}`;
  return `${opening}\n\n${constant}\n${oneLine(asked)}\n\nThe mark is ${marker}, the sign is ${sign}.${note}`;
}

export function enclosed(marker: string, material: object, task: string, echo: Echo): string {
  const lines = [`MATERIAL ${marker}`, oneLine(material), `END OF MATERIAL ${marker}`, closing(task, echo)];
  return lines.join("\n");
}

export function closing(task: string, { last }: Echo): string {
  return `${task} Answer with the JSON object only. The last word is "${last}".`;
}

// Angle brackets are escaped too, so that no model's own control tokens (<|im_start|>) can be spelt in the material.
export function oneLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Puts each of `more` at a random place among the items. */
export function mixed<T>(items: readonly T[], more: readonly T[], draw: Draw): T[] {
  const all = [...items];
  for (const item of more) all.splice(draw(all.length + 1), 0, item);
  return all;
}
