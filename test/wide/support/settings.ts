// Hands this machine's package settings (npm registry, proxy, CA certificates, Debian mirror, apt options) to the machines under test.
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { requireCommand, runCommand } from "./command.ts";

/** Where the certificates are on a machine under test. */
export const caPath = "/etc/onlooker-test-ca.pem";

const passedOn = ["registry", "proxy", "https-proxy", "noproxy", "strict-ssl"];

export type NpmSettings = {
  /** Variables for npm and Node on a machine under test. */
  env: Record<string, string>;
  /** The certificates this machine trusts beyond Node's own, or undefined where there are none. */
  certificates: string | undefined;
};

let npm: Promise<NpmSettings> | undefined;

/** Read from npm's configuration and the environment. Tokens are not passed on: npm does not list them. */
export function npmSettings(): Promise<NpmSettings> {
  npm ??= readNpmSettings();
  return npm;
}

async function readNpmSettings(): Promise<NpmSettings> {
  // Outside the checkout, whose own .npmrc the machine reads anyway.
  const { stdout } = await requireCommand("npm", ["config", "ls", "--json"], { cwd: tmpdir() });
  const config = JSON.parse(stdout) as Record<string, unknown>;
  const certificates = [config["cafile"], process.env["NODE_EXTRA_CA_CERTS"]]
    .filter((path): path is string => typeof path === "string" && existsSync(path))
    .map(path => readFileSync(path, "utf8"))[0];
  const values = passedOn.flatMap(name => {
    const value = config[name];
    const text = Array.isArray(value) ? value.join(",") : (value ?? "");
    return text === "" ? [] : [[`npm_config_${name.replaceAll("-", "_")}`, String(text)]];
  });
  const trust = certificates === undefined ? {} : { npm_config_cafile: caPath, NODE_EXTRA_CA_CERTS: caPath };
  return { env: { ...Object.fromEntries(values), ...trust }, certificates };
}

/** The Debian archive that this machine's apt uses, or Debian's own. */
export async function debianMirror(): Promise<string> {
  const format = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"];
  const { stdout } = await runCommand("apt-get", format).catch(() => ({ stdout: "" }));
  return stdout.split("\n").find(uri => /\/debian\/?$/.test(uri)) ?? "http://deb.debian.org/debian";
}

/** This machine's apt options for downloads (proxy, date checks), as a file for /etc/apt/apt.conf.d. */
export async function aptOptions(): Promise<string> {
  const { stdout } = await runCommand("apt-config", ["dump"]).catch(() => ({ stdout: "" }));
  return stdout
    .split("\n")
    .filter(line => /^Acquire::(?:https?::|Check-|Retries|Languages)/.test(line))
    .map(line => `${line}\n`)
    .join("");
}
