// The Chromium that browser tests drive: found, or installed where that may be done.
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
const macOs = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** The Chromium of this machine, or that of SVC_TEST_CHROMIUM. */
export function findBrowser(): string | undefined {
  const given = process.env["SVC_TEST_CHROMIUM"];
  if (given) return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const places = [...folders.flatMap(folder => names.map(name => join(folder, name))), macOs];
  return places.find(place => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

// The popups of the address bar are pages of Chromium's own, a second of work for each window that opens. Naming them
// takes the place of what its driver leaves out by itself, so that stands here too.
const leftOut = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  ...["AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"],
  ...["DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"],
  ...["MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"],
  "ThirdPartyStoragePartitioning",
];

/** Its sandbox does not bear root. */
export const browserArgs = [
  `--disable-features=${leftOut.join(",")}`,
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

/** Where there is no Chromium, installs Debian's when this user may; otherwise the tests say what is missing. */
export async function installBrowser(): Promise<void> {
  if (findBrowser() !== undefined || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  console.error("Installing Chromium for the tests of the dashboard…");
  const options: SpawnSyncOptions = {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "inherit"],
  };
  spawnSync("apt-get", ["update", "-qq"], options);
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], options);
}
