// The beginnings of inputs of a launch, for lists.
import { shorten } from "../../model/shorten.ts";

const previewChars = 200;
// A character is at most a pair of escapes such as \ud83d\ude00.
const jsonChars = previewChars * 6 + 2;

/** The beginning of `launch_inputs.input`, as SQL; the rest may have 100,000 characters. */
export function previewColumn(table: string): string {
  return `left(${table}.input, ${jsonChars})`;
}

/** Reads the beginning of a JSON text, shortened to 200 characters. */
export function inputPreview(json: string | null): string | null {
  if (json === null) return null;
  return shorten(startOfJsonText(json), previewChars);
}

/** An escape at the end may be cut off. */
function startOfJsonText(json: string): string {
  for (let end = json.length; ; end--) {
    try {
      return JSON.parse(end === json.length && json.length < jsonChars ? json : `${json.slice(0, end)}"`);
    } catch (error) {
      if (end < json.length - 6) throw error;
    }
  }
}
