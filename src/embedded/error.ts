// The error of an unusable embedded database: one line for the operator.

/** The message says what is wrong, then what to do; it contains no secret. */
export class EmbeddedError extends Error {
  override name = "EmbeddedError";

  constructor(problem: string, todo: string, options?: ErrorOptions) {
    super(`${linesOf(problem).join(" ")} ${todo}`, options);
  }
}

/** The reason in the output of a PostgreSQL program: at most its last three errors and hints. */
export function errorsIn(output: string): string {
  const lines = linesOf(output);
  const errors = lines.filter(line => /(?:FATAL|PANIC|ERROR|HINT|error|hint):/.test(line));
  return (errors.length > 0 ? errors : lines)
    .slice(-3)
    .map(line => line.replace(/^.*?\b(?:FATAL|PANIC|ERROR|LOG|HINT|error|hint): +/, ""))
    .join("; ");
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map(line => line.trim())
    .filter(Boolean);
}
