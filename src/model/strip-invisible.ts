// A text as a reader sees it: what cannot be seen can neither be judged nor be allowed to speak to who judges.

/**
 * Well-formed, and without zero-width, bidirectional, tag, variation, private-use and control characters; line breaks
 * and tabs stay.
 */
export function visible(text: string): string {
  return text.toWellFormed().replace(unseen, "");
}

/** Whether there is any letter or digit for a reader to see. */
export function hasWord(text: string): boolean {
  return /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]/u.test(text);
}

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Co}\uFFF9-\uFFFB]|(?![\t\n\r])\p{Cc}/gu;
