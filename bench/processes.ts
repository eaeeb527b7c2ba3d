// Starts the benchmark's processes, reads their output, and measures CPU time and memory from /proc.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export type Child = {
  process: ChildProcess;
  pid: number;
  nextLine: () => Promise<string>;
  stop: () => Promise<void>;
};

/** `flags`: for V8. */
export function start(
  script: string,
  args: string[],
  env: Record<string, string> = {},
  flags: string[] = [],
): Child {
  const child = spawn(process.execPath, [...flags, new URL(script, import.meta.url).pathname, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    process: child,
    pid: child.pid!,
    async nextLine() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${script} ended without the expected output`);
      return value;
    },
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

// Linux counts CPU time in hundredths of a second.
const ticksPerSecond = 100;

/** CPU seconds used so far by a process, its threads included. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return fields ? (Number(fields[11]) + Number(fields[12])) / ticksPerSecond : 0;
}

/** CPU seconds used so far by a PostgreSQL: its postmaster, its running children and those that have ended. */
export function cpuSecondsOfTree(pid: number): number {
  for (;;) {
    const before = reapedSeconds(pid);
    const running = childrenOf(pid).reduce((sum, child) => sum + cpuSecondsOfTree(child), cpuSeconds(pid));
    // A child that ended meanwhile may have been missed.
    if (reapedSeconds(pid) === before) return before + running;
  }
}

/** CPU seconds of its children that have ended. */
function reapedSeconds(pid: number): number {
  const own = statOf(pid);
  return own ? (Number(own[13]) + Number(own[14])) / ticksPerSecond : 0;
}

/** Peak resident memory of a process, in MB. */
export function peakMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Resident memory of a process and its children, in MB: what they share counts once each. */
export function memoryMbOfTree(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const own = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return childrenOf(pid).reduce((sum, child) => sum + memoryMbOfTree(child), own);
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => Number(statOf(pid)?.[1]) === parent);
}

/** The fields of /proc/<pid>/stat after the command's name: state, parent, … utime at 11, stime at 12. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return undefined;
  }
}
