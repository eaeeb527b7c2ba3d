// Runs the service from the command line until a signal; prints one line if it cannot start.
import { styleText } from "node:util";
import type { Logger } from "pino";
import { isDatabaseAbsent } from "./command/database.ts";
import { knownProblem } from "./command/known-problem.ts";
import { type Config, readConfig, unknownVariables } from "./config.ts";
import { hostFault } from "./service/http-server.ts";
import { type Service, startService } from "./service.ts";
import { mayPass } from "./store/connection/may-pass.ts";

/** Without a handler, SIGHUP would end the service with its requests, and leave the embedded PostgreSQL running. */
const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export type Running = { service: Service; config: Config; log: Logger };

/** Ends the command with exit code 1. The message is one line for the user. */
export class CommandError extends Error {
  override name = "CommandError";
}

/**
 * Starts the service, calls `onReady`, and stops at the first SIGTERM, SIGINT or SIGHUP, even if `onReady` has not finished;
 * a later signal ends the process immediately. Never returns: the process exits with 0, or with 1 after a failure.
 *
 * A parent with an IPC channel (the launcher, or a process manager) is sent "ready" and later "stopping", so that it can
 * tell a crash from a stop. When the parent ends, so does the service.
 */
export async function runService(
  env: Readonly<Record<string, string | undefined>>,
  openLog: (config: Config) => Logger,
  onReady: (running: Running) => Promise<void> | void,
): Promise<never> {
  try {
    const config = readConfig(env);
    const log = openLog(config);
    if (isDatabaseAbsent(config)) log.info(`Creating the database in ${config.dataDir}`);
    // A person at a terminal sees what takes time or needs attention; the rest of the start is for logs.
    if (config.logFormat === "text" && config.logLevel === "info") log.level = "warn";
    const unknown = unknownVariables(env);
    if (unknown.length > 0) {
      log.warn(`Onlooker does not read ${unknown.join(", ")}: check the spelling in docs/configuration.md.`);
    }
    const stopSignal = firstSignal();
    const stopping = new AbortController();
    void stopSignal.then(() => {
      log.level = config.logLevel;
      stopping.abort();
      limitStop(log);
    });
    const { signal } = stopping;
    const service = await startService(config, log, { signal }).catch(async (error: Error) => {
      // A wait for the database ends with its last error; HTTP processes that are starting are ended, by Ctrl-C as well.
      if (!signal.aborted || (startProblem(error) !== undefined && !mayPass(error))) throw error;
      log.info({ reason: await stopSignal, err: error.message }, "Stopped while starting");
      process.exit(0);
    });
    log.level = config.logLevel;
    notifyParent("ready");
    let isLost = false;
    try {
      const done = Promise.resolve(onReady({ service, config, log }));
      const lost = service.lost.then(reason => {
        isLost = true;
        limitStop(log);
        return reason;
      });
      const reason = await Promise.race([stopSignal, lost, done.then(() => stopSignal)]);
      log.info({ reason }, "Stopping");
    } finally {
      // A parent that is not told takes it for a crash, and starts the service again.
      if (!isLost) notifyParent("stopping");
      await service.stop();
    }
    log.info("Stopped");
    process.exit(isLost ? 1 : 0);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function notifyParent(state: "ready" | "stopping"): void {
  if (process.connected) process.send?.(state);
}

// npm forwards the Ctrl-C that the terminal has already sent to this process, so a second signal within 1 s is a repeat.
const sameSignalMs = 1_000;

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP (the terminal was closed), or when the parent ends; a later signal ends
 * the process immediately.
 */
function firstSignal(): Promise<string> {
  return new Promise(resolve => {
    let firstAt: number | undefined;
    for (const signal of stopSignals) {
      process.on(signal, () => {
        // After the ^C that a terminal shows of the key.
        if (firstAt === undefined && signal === "SIGINT" && process.stdout.isTTY) process.stdout.write("\n");
        firstAt ??= performance.now();
        if (performance.now() - firstAt > sameSignalMs) process.exit(1);
        resolve(signal);
      });
    }
    process.on("disconnect", () => resolve("the end of the parent process"));
  });
}

// Supervisors kill after 25 s.
const stopMaxMs = 24_000;

/** Exits after `stopMaxMs` even if the service is still starting or stopping, such as when the database hangs. */
function limitStop(log: Logger): void {
  setTimeout(() => {
    log.error("Could not stop in time");
    process.exit(1);
  }, stopMaxMs).unref();
}

// One line for a known problem, with what to do about it; any other error is a bug and keeps its stack.
function explain(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  const problem = startProblem(error);
  if (problem === undefined) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const line = `Onlooker cannot start: ${problem.replace(/^The /, "the ")}`;
  if (!process.stderr.isTTY) return line;
  // The first sentence is the problem, the others say what to do.
  const [wrong, ...todo] = line.split(/(?<=[.)]) (?=[A-Z])/);
  return ["", styleText("red", wrong!, { stream: process.stderr }), ...todo, ""].join("\n");
}

function startProblem(error: unknown): string | undefined {
  const { code, port, message } = error as { code?: string; port?: number; message?: string };
  switch (code) {
    case hostFault:
      return message;
    case "EADDRINUSE":
      return `port ${port} is already in use. Stop the program that uses it, or set PORT to another one, such as PORT=${Number(port) + 1}.`;
    case "EACCES":
      return port === undefined
        ? undefined
        : `this user may not listen on port ${port}. Set PORT to one above 1023.`;
    default:
      return knownProblem(error);
  }
}
