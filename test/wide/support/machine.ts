// Runs commands on a bare Debian machine: a copy of a root file system, entered by chroot in Linux namespaces of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeScratch } from "../../support/postgres-server.ts";
import { lastingFolder } from "./cache.ts";
import { type Output, requireCommand, runCommand } from "./command.ts";
import { caPath, npmSettings } from "./settings.ts";

export type User = "root" | "dev";

export type RunOptions = {
  /** "dev" is the ordinary user, with uid 1000. Default: root. */
  user?: User;
  cwd?: string;
  /** Added to the machine's environment, which has nothing of ours. Undefined removes a variable. */
  env?: Record<string, string | undefined>;
  /** "host" reaches the registry from a machine that has loopback only. */
  network?: "host";
};

export type Started = {
  /** Everything written so far to standard output and standard error. */
  output(): string;
  /** Signals the command itself, not a shell around it. */
  signal(name: "TERM" | "INT" | "KILL"): Promise<void>;
  /** The exit code; 128 and the signal's number where a signal ended it. */
  exited: Promise<number>;
};

export type Reply = { status: number; headers: Record<string, string>; body: string };

export type Machine = {
  /** The root file system as this machine sees it. */
  root: string;
  /** Runs a line of shell to its end. */
  run(line: string, options?: RunOptions): Promise<Output>;
  /** Starts a line of shell, which must be one command, and leaves it running. */
  start(line: string, options?: RunOptions): Started;
  /** Sends an HTTP request from inside the machine's network; undefined when nobody listens. */
  request(
    url: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<Reply | undefined>;
  /** The names of all processes, those of this harness left out. */
  processes(): Promise<string[]>;
  /** Ends every process of the machine and deletes its files. */
  close(): Promise<void>;
};

const uids = { root: "0:0", dev: "1000:1000" };
const homes = { root: "/root", dev: "/home/dev" };
/** Where all machines have npm's cache, so that a package is downloaded once. */
export const npmCache = "/var/cache/onlooker-npm";

// The shell is process 1 of the machine: it reaps orphans as an init would, and it reads our end of a pipe, so that
// even when the tests are killed it ends, and with it, by the kernel, every process of the machine.
const init = `
  set -e
  mount --rbind /dev "$1/dev"
  mount -t tmpfs tmpfs "$1/dev/shm"
  mount -t proc proc "$1/proc"
  mount --bind "$2" "$1${npmCache}"
  if [ "$3" = loopback ]; then
    echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
    ip link set lo up
  fi
  read -r pid _ < /proc/self/stat
  echo "$pid"
  read -r _
`;

/**
 * Opens a machine on a copy of this root file system. Network "host" is ours, with the registry in it; "loopback" is
 * IPv4 loopback alone, whose ports are all free.
 */
export async function openMachine(image: string, network: "host" | "loopback" = "host"): Promise<Machine> {
  const scratch = makeScratch();
  const root = join(scratch, "root");
  await requireCommand("cp", ["-a", "--reflink=auto", image, root]);
  await writeSettings(root);
  const { child, pid } = await startInit(root, network);
  const enter = (options: RunOptions) => [
    ...["--target", pid, "--mount", "--pid", "--ipc", "--uts"],
    ...(network === "loopback" && options.network !== "host" ? ["--net"] : []),
  ];

  async function command(line: string, options: RunOptions): Promise<string[]> {
    const { user = "root", cwd = "/" } = options;
    const env = {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: homes[user],
      npm_config_cache: npmCache,
      ...(await npmSettings()).env,
      ...options.env,
    };
    const variables = Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    );
    const chroot = ["chroot", `--userspec=${uids[user]}`, "--groups=", root];
    return [...enter(options), ...chroot, "env", "-i", ...variables, "sh", "-c", `cd "$0" && ${line}`, cwd];
  }

  const run: Machine["run"] = async (line, options = {}) => {
    // npm's cache is shared by all users of all machines.
    await requireCommand("chmod", ["-R", "a+rwX", lastingFolder("npm")]);
    return runCommand("nsenter", await command(line, options));
  };

  let starts = 0;
  const start: Machine["start"] = (line, options = {}) => {
    const pidFile = `/tmp/started-${++starts}`;
    let output = "";
    const exited = (async () => {
      await requireCommand("chmod", ["-R", "a+rwX", lastingFolder("npm")]);
      const args = await command(`echo $$ > ${pidFile} && exec ${line}`, options);
      const started = spawn("nsenter", args, { stdio: ["ignore", "pipe", "pipe"] });
      for (const stream of [started.stdout, started.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      }
      return new Promise<number>((resolve, reject) => {
        started.once("error", reject);
        started.once("close", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)));
      });
    })();
    return {
      output: () => output,
      exited,
      async signal(name) {
        await requireCommand("nsenter", await command(`kill -${name} $(cat ${pidFile})`, {}));
      },
    };
  };

  const requestScript = join(import.meta.dirname, "request.ts");
  const request: Machine["request"] = async (url, init = {}) => {
    const net =
      network === "loopback" ? ["--target", pid, "--net"] : ["--target", String(process.pid), "--net"];
    const sent = await runCommand("nsenter", [
      ...net,
      process.execPath,
      requestScript,
      JSON.stringify({ url, ...init }),
    ]);
    if (sent.code === 0) return JSON.parse(sent.stdout) as Reply;
    if (sent.stderr.includes("ECONNREFUSED")) return undefined;
    throw new Error(`${url}: ${sent.stderr}`);
  };

  async function processes(): Promise<string[]> {
    const { stdout } = await runCommand("nsenter", await command("cat /proc/[0-9]*/comm", {}));
    const ours = ["bash", "sh", "cat"];
    return stdout.split("\n").filter(name => name !== "" && !ours.includes(name));
  }

  async function close(): Promise<void> {
    const ended = new Promise(resolve => child.once("close", resolve));
    child.stdin!.end();
    await ended;
    rmSync(scratch, { recursive: true, force: true });
  }

  return { root, run, start, request, processes, close };
}

/** What a machine gets from its network and its owner: name servers, and the certificates of the registry. */
async function writeSettings(root: string): Promise<void> {
  for (const path of ["/etc/resolv.conf", "/etc/hosts"]) {
    if (existsSync(path)) copyFileSync(path, join(root, path));
  }
  appendFileSync(join(root, "/etc/hosts"), "\n::1 localhost ip6-localhost ip6-loopback\n"); // as Debian writes it
  const { certificates } = await npmSettings();
  if (certificates !== undefined) writeFileSync(join(root, caPath), certificates, { mode: 0o644 });
  mkdirSync(join(root, npmCache), { recursive: true });
}

async function startInit(root: string, network: string): Promise<{ child: ChildProcess; pid: string }> {
  const namespaces = ["--mount", "--pid", "--ipc", "--uts", ...(network === "loopback" ? ["--net"] : [])];
  const args = [
    ...namespaces,
    "--fork",
    "--kill-child",
    "bash",
    "-c",
    init,
    "init",
    root,
    lastingFolder("npm"),
    network,
  ];
  const child = spawn("unshare", args, { stdio: ["pipe", "pipe", "inherit"] });
  for await (const pid of createInterface({ input: child.stdout })) {
    if (/^\d+$/.test(pid)) return { child, pid };
  }
  throw new Error(`The machine in ${root} did not start.`);
}
