// Real processes of the service, as an operator starts them: the tests wait for them, stop them or kill them.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Owner } from "../support/app.ts";
import { childEnv } from "../support/child-env.ts";
import { newClient } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { variablesOf } from "../support/postgres.ts";

const source = (name: string, folder = fileURLToPath(new URL("../../src", import.meta.url))) =>
  join(folder, name);

export type ServiceProcess = {
  url: string;
  pid: number;
  /** Everything it logged, one line each. */
  logs: string[];
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, or null if a signal ended it. */
  exited: Promise<number | null>;
};

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** The V8 flags with which the launcher starts the service. */
export const heapFlags: string[] = (await import(source("../scripts/launch/heap.mjs"))).heapFlags(
  process.execPath,
);

/**
 * Starts `src/main.ts` on a free port with these variables and no others of ours, or has the launcher start it, as
 * `npm start` does. `sources`: the folder of another version. Rejects where it does not start.
 */
export async function startProcess(
  env: Record<string, string>,
  { launched = false, sources }: { launched?: boolean; sources?: string } = {},
): Promise<ServiceProcess> {
  const args = launched
    ? [source("../scripts/launch.mjs"), "src/main.ts"]
    : [...heapFlags, source("main.ts", sources)];
  const { DATABASE_URL: databaseUrl } = env;
  const database = databaseUrl && !env["SVC_DATABASE_POOLER"] ? variablesOf(databaseUrl) : {};
  const child = spawn(process.execPath, args, {
    env: { ...childEnv, PORT: "0", SVC_EVALUATORS: "1", SVC_HTTP_PROCESSES: "1", ...env, ...database },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const exited = once(child, "exit").then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const logs: string[] = [];
  const ready = new Promise<string>((resolve, reject) => {
    let rest = "";
    const read = (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      logs.push(...lines);
      const url = lines.map(line => /ready at (http:[^"\s]+)/.exec(line)?.[1]).find(Boolean);
      if (url) resolve(url);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", read);
    void exited.then(code => reject(new Error(`The service ended with ${code}:\n${logs.join("\n")}`)));
  });
  const url = await ready;
  return { url, pid: child.pid!, logs, kill: signal => void child.kill(signal), exited };
}

/** Stops it as a supervisor would. Returns the exit code. */
export async function stopProcess(service: ServiceProcess): Promise<number | null> {
  service.kill("SIGTERM");
  return service.exited;
}

/** The latest HTTP process of each number, as the process that leads them logged it; needs the log level debug. */
export function httpProcessesOf({ logs }: ServiceProcess): Map<number, number> {
  const lines = logs.filter(line => line.includes("is serving")).map(line => JSON.parse(line));
  return new Map(lines.map(({ process, processId }) => [process, processId]));
}

/** The processes that a process has started, and that have not ended. Linux only. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}

/**
 * Resolves to the process that `pid` starts beside `before`, once that one runs its own program. Stopped any earlier, it would
 * block the process that starts it, which waits in `fork` to hear whether the program could be run. Linux only.
 */
export function startedBeside(pid: number, before: number[]): Promise<number> {
  const programOf = (one: number) => readFileSync(`/proc/${one}/cmdline`, "utf8");
  return eventually(() => {
    const started = childrenOf(pid).find(child => !before.includes(child));
    assert.ok(started);
    assert.ok(!["", programOf(pid)].includes(programOf(started)));
    return started;
  });
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Stops every process of this test file that is still running, and kills those that do not stop. */
export async function stopProcesses(): Promise<void> {
  const stop = async (child: ChildProcess) => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 40_000);
    await exited;
    clearTimeout(timer);
  };
  await Promise.all([...running].map(stop));
}

export type Output = { stdout: string; stderr: string; code: number };

/** Runs `src/bootstrap.ts` with these arguments and variables. */
export async function runBootstrap(
  args: string[],
  env: Record<string, string>,
  sources?: string,
): Promise<Output> {
  const child = spawn(process.execPath, [source("bootstrap.ts", sources), ...args], {
    env: { ...childEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const [code] = await once(child, "close");
  return { ...output, code };
}

export const account = { email: "owner@example.com", password: "correct horse battery" };
export const serviceName = "support-agent";

export type Bootstrapped = { projectId: string; agentId: string; apiKey: string };

/** A verified account with a project, an agent with the service name `serviceName`, and a key, in this database. */
export async function bootstrapped(env: Record<string, string>, sources?: string): Promise<Bootstrapped> {
  const made = await runBootstrap(
    [
      ...["--email", account.email, "--password", account.password, "--project", "Project"],
      ...["--agent", "Agent", "--service-name", serviceName, "--verified", "--json"],
    ],
    env,
    sources,
  );
  if (made.code !== 0) throw new Error(made.stderr);
  return JSON.parse(made.stdout);
}

/** The bootstrapped account, signed in to this process. */
export async function signedIn(service: { url: string }, { projectId }: Bootstrapped): Promise<Owner> {
  const client = newClient(service.url);
  const { body } = await client.post("/api/auth/sign-in/email", account).expect(200);
  return { client, accountId: body.user.id, ...account, projectId };
}
