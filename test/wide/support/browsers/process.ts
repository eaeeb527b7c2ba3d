// Starts the browsers' processes with a home of their own, waits for a line of their output, and ends them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnv } from "../../../support/child-env.ts";
import { lastLines } from "../command.ts";

/** Firefox takes 5 s on two busy cores. */
const startMs = 90_000;

export type Running = {
  /** The text that the group of `ready` matched. */
  found: string;
  stop(): Promise<void>;
};

type Options = { env?: NodeJS.ProcessEnv; ready?: RegExp };

/** Resolves once the output matches `ready`, if that is given. The home is deleted when the process is stopped. */
export async function startProgram(
  program: string,
  args: (home: string) => string[],
  { env, ready }: Options,
): Promise<Running> {
  const home = mkdtempSync(join(tmpdir(), "onlooker-browser-"));
  const child = spawn(program, args(home), {
    env: { ...childEnv, HOME: home, XDG_RUNTIME_DIR: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group of its own, so that the browser's other processes end with it
  });
  const stop = async () => {
    await end(child);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    return { found: await outputOf(child, ready ?? /(?:)/), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function outputOf(child: ChildProcess, ready: RegExp): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(new Error(`${child.spawnargs.join(" ")} ${why}\n${lastLines(output)}`));
    const timer = setTimeout(() => fail(`was not ready after ${startMs / 1000} s`), startMs);
    const look = () => {
      const found = ready.exec(output);
      if (found) resolve(found[1] ?? "");
      if (found) clearTimeout(timer);
    };
    child.once("spawn", look);
    child.once("error", error => fail(error.message));
    child.once("exit", code => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        look();
      });
    }
  });
}

/** Kills the process group: neither browser has anything to save. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // the group had ended
  }
  await ended;
}
