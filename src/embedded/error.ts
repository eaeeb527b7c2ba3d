// Why the embedded database cannot be used, in one line for the operator.

/** The message says what is wrong and then what to do about it; it holds no secret. */
export class EmbeddedError extends Error {
  override name = "EmbeddedError";

  constructor(problem: string, todo: string, options?: ErrorOptions) {
    super(`${problem.replaceAll(/\s*\n\s*/g, " ")} ${todo}`, options);
  }
}

/** What PostgreSQL said was wrong, out of all that it said: at most its last three complaints. */
export function lastWords(said: string): string {
  const lines = said
    .split("\n")
    .map(line => line.trim())
    .filter(Boolean);
  const complaints = lines.filter(line => /(?:FATAL|PANIC|ERROR|HINT|error|hint):/.test(line));
  return (complaints.length > 0 ? complaints : lines)
    .slice(-3)
    .map(line => line.replace(/^.*?\b(?:FATAL|PANIC|ERROR|LOG|HINT|error|hint): +/, ""))
    .join("; ");
}
