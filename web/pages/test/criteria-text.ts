// Splits a criterion that says several things into its lines or sentences; the user confirms the split.

/** The most criteria that a semantic assertion may have. */
export const criteriaMax = 6;

const bullet = /^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+/;

/** One to `room` texts, none empty unless `text` is; what exceeds `room` stays together in the last one. */
export function splitCriteria(text: string, room: number = criteriaMax): string[] {
  const lines = text.split(/\r?\n/).flatMap(line => line.replace(bullet, "").trim() || []);
  const parts = lines.flatMap(line => sentencesOf(line));
  if (parts.length <= 1) return [parts[0] ?? text];
  return parts.length <= room ? parts : [...parts.slice(0, room - 1), parts.slice(room - 1).join(" ")];
}

function sentencesOf(line: string): string[] {
  const ends = [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(line)];
  return ends.flatMap(({ segment }) => segment.split(/;\s+/)).flatMap(part => part.trim() || []);
}
