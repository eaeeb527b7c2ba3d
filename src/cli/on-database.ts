// What commands share that work on the database itself: where it is, and errors in one line.
import { errorText } from "../log/error-text.ts";
import { CliError } from "./client.ts";
import { say } from "./print.ts";

export const environmentHelp =
  "DATABASE_URL, SVC_DATABASE_DIRECT_URL, SVC_DATA_DIR and SVC_SECRET_KEY say where, as they do for the service.";

/** Loaded when it is needed: other commands only call the API. */
const load = async () => ({
  ...(await import("../backup.ts")),
  ...(await import("../command/known-problem.ts")),
});

/** Errors that the operator can do something about are one line. */
export async function explained(work: () => Promise<void>): Promise<void> {
  const { ArchiveError, knownProblem } = await load();
  try {
    await work();
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    const problem = error instanceof ArchiveError ? message : knownProblem(error);
    if (problem !== undefined) throw new CliError(problem.charAt(0).toUpperCase() + problem.slice(1));
    // A code is one of PostgreSQL's or the system's, such as ECONNREFUSED.
    if (typeof code === "string") throw new CliError(`The database or a file failed: ${errorText(error)}.`);
    throw error;
  }
}

export const log = { info() {}, warn: say, error: say };
