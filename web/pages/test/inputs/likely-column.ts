// Guesses which column of a table or which field of objects has the inputs.

/** The names that people give to what users write. */
export const nameOfInputs =
  /^(?:user[ _-]?)?(?:inputs?|questions?|prompts?|messages?|quer(?:y|ies)|texts?|utterances?)$/i;

/** The first column with such a name, `input` before others; else the one with the longest texts. */
export function likelyColumn(
  names: readonly string[],
  sample: readonly (readonly (string | undefined)[])[],
): number {
  const exact = names.findIndex(name => name.trim().toLowerCase() === "input");
  if (exact >= 0) return exact;
  const named = names.findIndex(name => nameOfInputs.test(name.trim()));
  if (named >= 0) return named;
  const lengths = names.map((_, at) => sample.reduce((sum, row) => sum + (row[at]?.length ?? 0), 0));
  return Math.max(0, lengths.indexOf(Math.max(...lengths)));
}
