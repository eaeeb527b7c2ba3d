// Cuts the text of a judge, an agent or a webhook to what is looked at: it is as long as its sender likes.

/** Enough for a sentence about an error, a header or the beginning of a page. */
const charsMax = 4_000;

/** What a regular expression may see of another server's text. */
export function beginningOf(text: string | null | undefined, max = charsMax): string {
  return text?.slice(0, max) ?? "";
}
