// What an error says, in one line.

/** Its message, or its code: of several addresses that refused a connection, the error has no message. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code, name } = error as Error & { code?: unknown };
  return message || String(code ?? name);
}
