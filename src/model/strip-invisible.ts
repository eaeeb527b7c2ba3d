// Removes invisible characters from a text, so that hidden text cannot influence the judge.

/**
 * Well-formed Unicode without zero-width, bidirectional, tag, variation, private-use and control characters; keeps line
 * breaks and tabs.
 */
export function stripInvisible(text: string): string {
  return text.toWellFormed().replace(unseen, "");
}

/** Whether the text has a visible letter or digit. */
export function hasWord(text: string): boolean {
  return /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]/u.test(text);
}

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Co}\uFFF9-\uFFFB]|(?![\t\n\r])\p{Cc}/gu;
