// A criterion that says several things, taken apart into its lines or sentences; what is meant only its author knows.

/** What a test case allows. */
export const criteriaMax = 6;

const bullet = /^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+/;

/** One to `room` texts, none empty but where nothing was said; what does not fit stays together in the last. */
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
