// Which errors of a database pass without anybody correcting the configuration.

// https://www.postgresql.org/docs/18/errcodes-appendix.html: connection faults, serialization and deadlock,
// out of resources, shutting down or starting, lock or statement timeouts, a standby.
const transientStates = /^(08...|40001|40P01|53...|55P03|57014|57P0.|58...|25006|XX001|XX002)$/;
const transientMessages =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|No server accepts writes|Client has encountered a connection error|Cannot use a pool after calling end)/;
const transientSystemErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
]);

/** Whether a retry may succeed a moment later, without anybody correcting the configuration. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (typeof code === "string") return transientStates.test(code) || transientSystemErrors.has(code);
  if (error instanceof AggregateError) return error.errors.some(mayPass);
  return transientMessages.test(error.message);
}
