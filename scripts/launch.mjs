// Runs one of the project's scripts on Node 24 or newer, after installing whatever is missing.
//
//   node scripts/launch.mjs <script.ts> [arguments]
//
// With --verbose among the arguments, the output also lists the files of the dashboard's build.
// Plain JavaScript for Node 18.20 and newer, here and in launch/, because it runs before a newer Node is installed.
// All output goes to standard error.

import { join, resolve } from "node:path";
import { replaceProcess, runToEnd, supervise } from "./launch/child.mjs";
import { installPackages, isWritable } from "./launch/packages.mjs";
import { findNode } from "./launch/runtime.mjs";
import { fail, root, say, startStep } from "./launch/terminal.mjs";

/** Scripts that serve the dashboard until they are stopped. */
const serving = ["src/main.ts", "demo/main.ts"];

const [script, ...args] = process.argv.slice(2);
if (script === undefined) fail("usage: node scripts/launch.mjs <script.ts> [arguments]");
if (serving.includes(script)) refuseArguments();
await installPackages();
const node = findNode();
if (serving.includes(script)) {
  await buildDashboard(node);
  await supervise(node, [join(root, script), ...args]);
} else {
  await replaceProcess(node, [join(root, script), ...args]);
}

/** They would be ignored: the service is configured by variables. npm keeps `--port` of `npm start --port 5000` to itself. */
function refuseArguments() {
  const unknown = args.filter(arg => arg !== "--verbose");
  if (unknown.length === 0) return;
  fail(
    `unknown argument ${unknown.join(" ")}: variables configure the service, as in PORT=5000 npm start; see docs/configuration.md`,
  );
}

/**
 * Builds the dashboard if its sources have changed since the last build. The service starts even if the build fails: its
 * API works without the dashboard.
 *
 * A user who cannot write to the checkout, because another user installed it, gets the build in SVC_DATA_DIR.
 */
async function buildDashboard(node) {
  const dataDir = process.env.SVC_DATA_DIR?.trim();
  if (dataDir && !process.env.SVC_DASHBOARD_DIR?.trim() && !isWritable(join(root, "dist"))) {
    process.env.SVC_DASHBOARD_DIR = join(resolve(root, dataDir), "dashboard");
  }
  const build = [join(root, "scripts", "build.ts"), "--when-needed"];
  if (args.includes("--verbose")) build.push("--verbose");
  let printed = "";
  const onOutput = text => {
    printed += text;
  };
  const isQuiet = process.stderr.isTTY && !args.includes("--verbose");
  const step = isQuiet ? startStep("Preparing the dashboard") : undefined;
  const { code } = await runToEnd(node, build, isQuiet ? { onOutput } : {});
  step?.end(code === 0 ? "Dashboard ready" : undefined);
  if (code === 0) return;
  process.stderr.write(printed);
  say("building the dashboard failed; starting without a new build");
}
