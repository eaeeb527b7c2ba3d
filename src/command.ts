// Runs the service for a person or a supervisor: until a signal, and with one line for what keeps it from starting.
import { styleText } from "node:util";
import type { Logger } from "pino";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { EmbeddedError } from "./embedded/error.ts";
import { type Service, startService } from "./service.ts";
import { UnfitDatabaseError } from "./store/migrate.ts";
import { MasterKeyError } from "./store/secrets/master-key.ts";

export type Running = { service: Service; config: Config; log: Logger };

/** What keeps a command from going on. The message is one line for the person who gave it. */
export class CommandError extends Error {
  override name = "CommandError";
}

/**
 * Starts the service, does `meanwhile`, and stops at the first SIGTERM or SIGINT, whether that is done or not; a
 * later signal ends the process at once. Never returns: the process exits with 0, or with 1 when something failed.
 *
 * A parent with an IPC channel (the launcher, or a process manager) is sent "ready" and later "stopping", so that it can
 * tell a crash from a stop. When the parent ends, so does the service.
 */
export async function runService(
  env: Readonly<Record<string, string | undefined>>,
  openLog: (config: Config) => Logger,
  meanwhile: (running: Running) => Promise<void> | void,
): Promise<never> {
  try {
    const config = readConfig(env);
    const log = openLog(config);
    const stopAsked = firstSignal();
    void stopAsked.then(() => endInTime(log));
    const service = await startService(config, log);
    tellParent("ready");
    try {
      const done = Promise.resolve(meanwhile({ service, config, log }));
      const reason = await Promise.race([stopAsked, done.then(() => stopAsked)]);
      log.info({ reason }, "Stopping");
    } finally {
      tellParent("stopping");
      await service.stop();
    }
    log.info("Stopped");
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function tellParent(state: "ready" | "stopping"): void {
  if (process.connected) process.send?.(state);
}

// npm passes on the Ctrl-C that the terminal has sent us already: so soon, a second signal is the first one again.
const sameSignalMs = 1_000;

/** Resolves at the first SIGTERM or SIGINT, or when the parent goes; a further signal ends the process at once. */
function firstSignal(): Promise<string> {
  return new Promise(resolve => {
    let askedAt: number | undefined;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        askedAt ??= performance.now();
        if (performance.now() - askedAt > sameSignalMs) process.exit(1);
        resolve(signal);
      });
    }
    process.on("disconnect", () => resolve("the end of the parent process"));
  });
}

// Short of the 25 s after which supervisors kill.
const stopMaxMs = 24_000;

/** A database that no longer answers keeps neither a start nor a stop going for longer than this. */
function endInTime(log: Logger): void {
  setTimeout(() => {
    log.error("Could not stop in time");
    process.exit(1);
  }, stopMaxMs).unref();
}

const startErrors = [ConfigError, EmbeddedError, UnfitDatabaseError, MasterKeyError];

// What keeps the service from starting, and what to do about it; anything else is a bug and keeps its stack.
function explain(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  const problem = startProblem(error);
  if (problem === undefined) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const line = `Onlooker cannot start: ${problem}`;
  if (!process.stderr.isTTY) return line;
  // The first sentence says what is wrong, the others what to do.
  const [wrong, ...todo] = line.split(/(?<=[.)]) (?=[A-Z])/);
  return `\n${styleText("red", wrong!, { stream: process.stderr })}\n${todo.join(" ")}\n`;
}

function startProblem(error: unknown): string | undefined {
  if (startErrors.some(type => error instanceof type)) return (error as Error).message;
  const { code, port, message } = error as { code?: string; port?: number; message?: string };
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is already in use. Stop the program that uses it, or set PORT to another one, such as PORT=${Number(port) + 1}.`;
    case "EACCES":
      return port === undefined
        ? undefined
        : `this user may not listen on port ${port}. Set PORT to one above 1023.`;
    case "28P01":
    case "28000":
      return `the database rejected the login (${message}). Check the user and password in DATABASE_URL.`;
    case "3D000":
      return `the database does not exist (${message}). Create it, or check the name in DATABASE_URL.`;
    default:
      return undefined;
  }
}
