// This machine as one of the wide tests' machines: commands run with nothing of our environment but the PATH, as root or another user.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { makeScratch } from "../../support/scratch.ts";
import { runCommand } from "./command.ts";
import type { Machine, Reply, RunOptions } from "./machine.ts";
import { caPath, npmSettings } from "./settings.ts";

/** Nobody's uid is the same on Debian, Fedora and Alpine. */
const nobody = 65_534;

export type ThisMachine = Machine & {
  /** A folder of this user that nothing else is in. */
  folder(name: string, user?: "root" | "dev"): string;
};

/** With "dev", which only root can become, commands run as nobody. Each user has a home of its own in the machine's folder. */
export async function openThisMachine(): Promise<ThisMachine> {
  const root = makeScratch();
  const { env: npmEnv, certificates } = await npmSettings();
  const ca = join(root, "ca.pem");
  if (certificates !== undefined) writeFileSync(ca, certificates, { mode: 0o644 });
  const settings = Object.fromEntries(
    Object.entries(npmEnv).map(([name, value]) => [name, value === caPath ? ca : value]),
  );
  const mark = `ONLOOKER_TEST=${root}`;
  const folder = (name: string, user: "root" | "dev" = "root") => {
    const path = join(root, name);
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    if (user === "dev") chownSync(path, nobody, nobody);
    return path;
  };
  const optionsOf = ({ user = "root", cwd, env }: RunOptions) => ({
    cwd: cwd ?? root,
    env: {
      PATH: process.env["PATH"],
      HOME: folder(`home-${user}`, user),
      npm_config_cache: join(root, "npm"),
      ...settings,
      ONLOOKER_TEST: root,
      ...env,
    },
    ...(user === "dev" && { uid: nobody, gid: nobody }),
  });
  const children = new Set<ChildProcess>();
  /** Those that inherited our mark; root sees the environment of all processes. */
  const ours = () =>
    readdirSync("/proc").filter(pid => {
      return /^\d+$/.test(pid) && readIfAny(`/proc/${pid}/environ`).split("\0").includes(mark);
    });
  return {
    root,
    folder,
    run: (line, options = {}) => runCommand("sh", ["-c", line], optionsOf(options)),
    start(line, options = {}) {
      const child = spawn("sh", ["-c", `exec ${line}`], { ...optionsOf(options), stdio: "pipe" });
      children.add(child);
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      }
      const exited = once(child, "exit").then(([code, signal]) => {
        children.delete(child);
        return (code ?? 128 + constants.signals[signal as NodeJS.Signals]) as number;
      });
      return {
        output: () => output,
        exited,
        signal: async name => void child.kill(`SIG${name}`),
      };
    },
    async request(url, init) {
      try {
        const response = await fetch(url, init);
        const headers: Reply["headers"] = Object.fromEntries(response.headers);
        headers["set-cookie"] = response.headers.getSetCookie().join("\n");
        return { status: response.status, headers, body: await response.text() };
      } catch (error) {
        if ((error as { cause?: { code?: string } }).cause?.code === "ECONNREFUSED") return undefined;
        throw error;
      }
    },
    // PostgreSQL's processes get an environment of their own.
    processes: async () => ours().map(pid => readIfAny(`/proc/${pid}/comm`).trim()),
    async close() {
      for (const child of children) child.kill("SIGKILL");
      for (const pid of ours()) process.kill(Number(pid), "SIGKILL");
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function readIfAny(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
