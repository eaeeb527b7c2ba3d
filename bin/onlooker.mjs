#!/usr/bin/env node
// The command of the npm package and the image: starts the service or runs one of its commands, on Node 24 or newer.
//
// Plain JavaScript for Node 18.20 and newer, because it finds the newer Node. In a checkout, npm scripts do this.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceProcess, supervise } from "../scripts/launch/child.mjs";
import { findNode } from "../scripts/launch/runtime.mjs";
import { fail, root } from "../scripts/launch/terminal.mjs";

const commands = { start: "main.js", bootstrap: "bootstrap.js", svc: "cli.js" };

const usage = `Usage: onlooker [start]                 starts the service on http://localhost:4000
       onlooker bootstrap <options>     creates an account, a project, an agent and an API key
       onlooker svc <command>           runs test cases, erases data, backs up and restores
       onlooker --version

Add --help after bootstrap or svc for their options. Environment variables configure the service, such as PORT and
SVC_DATA_DIR: see docs/configuration.md in ${root}
`;

const [command = "start", ...args] = process.argv.slice(2);
if (command === "--version" || command === "-V") {
  process.stdout.write(`${JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version}\n`);
} else if (["--help", "-h", "help"].includes(command === "start" ? args[0] : command)) {
  process.stdout.write(usage);
} else if (!Object.hasOwn(commands, command) || (command === "start" && args.length > 0)) {
  process.stderr.write(`error: unknown command: ${[command, ...args].join(" ")}\n\n${usage}`);
  process.exitCode = 2;
} else {
  const script = join(root, "dist", "server", commands[command]);
  if (!existsSync(script))
    fail("this is a checkout and no release: run npm start, npm run bootstrap or npm run svc");
  if (command === "start" && process.env.npm_command === "exec") stopWithShell();
  const run = command === "start" ? supervise : replaceProcess;
  await run(findNode(), [script, ...args]);
}

/** npx starts this in a shell, which ends at SIGTERM without passing it on. */
function stopWithShell() {
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, "SIGTERM");
  }, 500).unref();
}
