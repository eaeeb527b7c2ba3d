// Runs commands on a bare Debian machine: a copy of a root file system, entered by chroot in Linux namespaces of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeScratch } from "../../support/scratch.ts";
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

const ownNamespaces = ["--mount", "--pid", "--ipc", "--uts"];

// The shell is process 1 of the machine: it reaps orphans as an init would, and it reads our end of a pipe, so that
// even when the tests are killed it ends, and with it, by the kernel, every process of the machine.
const initScript = `
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

/** A machine that runs: its root file system, its process 1 as we see it, and its network. */
type Inside = { root: string; init: ChildProcess; pid: string; network: "host" | "loopback" };

/**
 * Opens a machine on a copy of this root file system. Network "host" is ours, with the registry in it; "loopback" is
 * IPv4 loopback alone, whose ports are all free.
 */
export async function openMachine(image: string, network: "host" | "loopback" = "host"): Promise<Machine> {
  const scratch = makeScratch();
  const root = join(scratch, "root");
  await requireCommand("cp", ["-a", "--reflink=auto", image, root]);
  await writeSettings(root);
  const inside = await startInit(root, network);
  let starts = 0;
  return {
    root,
    run: async (line, options = {}) => runCommand("nsenter", await commandIn(inside, line, options)),
    start: (line, options = {}) => startIn(inside, line, options, `/tmp/started-${++starts}`),
    request: (url, init) => requestIn(inside, { url, ...init }),
    async processes() {
      const { stdout } = await runCommand("nsenter", await commandIn(inside, "cat /proc/[0-9]*/comm", {}));
      const ours = ["", "bash", "sh", "cat"];
      return stdout.split("\n").filter(name => !ours.includes(name));
    },
    async close() {
      const ended = new Promise(resolve => inside.init.once("close", resolve));
      inside.init.stdin!.end();
      await ended;
      rmSync(scratch, { recursive: true, force: true });
    },
  };
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
  chmodSync(lastingFolder("npm"), 0o777);
}

async function startInit(root: string, network: Inside["network"]): Promise<Inside> {
  const namespaces = [...ownNamespaces, ...(network === "loopback" ? ["--net"] : [])];
  const shell = ["bash", "-c", initScript, "init", root, lastingFolder("npm"), network];
  const init = spawn("unshare", [...namespaces, "--fork", "--kill-child", ...shell], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  for await (const pid of createInterface({ input: init.stdout })) {
    if (/^\d+$/.test(pid)) return { root, init, pid, network };
  }
  throw new Error(`The machine in ${root} did not start.`);
}

/** The arguments of nsenter that run this line of shell on the machine. */
async function commandIn(
  { root, pid, network }: Inside,
  line: string,
  options: RunOptions,
): Promise<string[]> {
  const { user = "root", cwd = "/" } = options;
  const net = network === "loopback" && options.network !== "host" ? ["--net"] : [];
  const env = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: homes[user],
    // One for each user: what root stores behind a umask of 077, nobody else can read.
    npm_config_cache: `${npmCache}/${user}`,
    ...(await npmSettings()).env,
    ...options.env,
  };
  const variables = Object.entries(env).filter(([, value]) => value !== undefined);
  return [
    ...["--target", pid, ...ownNamespaces, ...net],
    ...["chroot", `--userspec=${uids[user]}`, "--groups=", root],
    ...["env", "-i", ...variables.map(([name, value]) => `${name}=${value}`)],
    ...["sh", "-c", `cd "$0" && ${line}`, cwd],
  ];
}

function startIn(inside: Inside, line: string, options: RunOptions, pidFile: string): Started {
  let output = "";
  async function runToEnd(): Promise<number> {
    const command = await commandIn(inside, `echo $$ > ${pidFile} && exec ${line}`, options);
    const started = spawn("nsenter", command, { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const [code, signal] = (await once(started, "close")) as [number | null, NodeJS.Signals];
    return code ?? 128 + constants.signals[signal];
  }
  return {
    output: () => output,
    exited: runToEnd(),
    async signal(name) {
      await requireCommand("nsenter", await commandIn(inside, `kill -${name} $(cat ${pidFile})`, {}));
    },
  };
}

async function requestIn({ pid, network }: Inside, request: { url: string }): Promise<Reply | undefined> {
  const script = [process.execPath, join(import.meta.dirname, "request.ts"), JSON.stringify(request)];
  const [program, ...args] =
    network === "loopback" ? ["nsenter", "--target", pid, "--net", ...script] : script;
  const { code, stdout, stderr } = await runCommand(program!, args);
  if (code === 0) return JSON.parse(stdout) as Reply;
  if (stderr.includes("ECONNREFUSED")) return undefined;
  throw new Error(`${request.url}: ${stderr}`);
}
