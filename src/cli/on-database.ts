// What commands share that work on the database itself: where it is, and errors in one line.
import { CliError } from "./client.ts";

export const environmentHelp =
  "DATABASE_URL, SVC_DATABASE_DIRECT_URL, SVC_DATA_DIR and SVC_SECRET_KEY say where, as they do for the service.";

/** Loaded when it is needed: other commands only call the API. */
const load = async () => ({
  ...(await import("../backup.ts")),
  ...(await import("../config.ts")),
  ...(await import("../store/secrets/master-key.ts")),
  ...(await import("../store/unfit-database.ts")),
  ...(await import("../embedded/error.ts")),
});

/** Errors that the operator can do something about are one line. */
export async function explained(work: () => Promise<void>): Promise<void> {
  const { ArchiveError, ConfigError, EmbeddedError, UnfitDatabaseError, MasterKeyError } = await load();
  try {
    await work();
  } catch (error) {
    const known = [ArchiveError, ConfigError, EmbeddedError, UnfitDatabaseError, MasterKeyError];
    const { code, message } = error as { code?: unknown; message: string };
    // A code is one of PostgreSQL's or the system's, such as ECONNREFUSED or 28P01.
    if (known.some(type => error instanceof type)) throw new CliError(message);
    if (typeof code === "string") throw new CliError(`The database or a file failed: ${message || code}.`);
    throw error;
  }
}

export const log = { info() {}, warn: say, error: say };

/** Progress and warnings, so that scripts can read standard output. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
