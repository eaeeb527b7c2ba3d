// Runs nginx, Caddy, HAProxy and Apache with the sample configurations of docs/deploying.md, on a free port with a self-signed certificate.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { blocksOf, readPages } from "../../docs/pages.ts";
import { freePort } from "../../support/free-port.ts";
import { requireCommand } from "./command.ts";

export type ProxyName = "nginx" | "caddy" | "haproxy" | "apache";

/** The host name of the samples. */
export const publicHost = "onlooker.example.com";

export type Certificate = { folder: string; pem: string };

export type RunningProxy = { port: number; stop(): Promise<void> };

/** A self-signed certificate; `onlooker.pem` also contains the key, as HAProxy expects. */
export async function makeCertificate(): Promise<Certificate> {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-proxies-"));
  chmodSync(folder, 0o755);
  const [key, certificate] = [join(folder, "onlooker.key"), join(folder, "onlooker.pem")];
  const names = `subjectAltName=DNS:${publicHost},DNS:*.example.net`;
  await requireCommand("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", `/CN=${publicHost}`, "-addext", names, "-keyout", key, "-out", certificate],
  ]);
  const pem = readFileSync(certificate, "utf8");
  writeFileSync(certificate, pem + readFileSync(key, "utf8"));
  return { folder, pem };
}

/** The sample in this language, as it is in the docs. */
export function sampleOf(name: ProxyName | "ini"): string {
  const page = readPages().find(page => page.name === "docs/deploying.md")!;
  const blocks = blocksOf(page).filter(({ language }) => language === name);
  assert.equal(blocks.length, 1, `docs/deploying.md has ${blocks.length} samples for ${name}`);
  return blocks[0]!.text;
}

/** Replaces a part of a sample, which must occur in it. */
export function replaced(sample: string, part: string, by: string): string {
  assert.ok(sample.includes(part), `the sample has no ${part}`);
  return sample.replaceAll(part, by);
}

/** Starts the proxy in front of a service on this port of 127.0.0.1 and waits until it listens. */
export async function startProxy(
  name: ProxyName,
  upstreamPort: number,
  certificate: Certificate,
  sample = sampleOf(name),
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), `onlooker-${name}-`));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const local = replaced(sample, "127.0.0.1:4000", `127.0.0.1:${upstreamPort}`).replaceAll(
    "/etc/ssl/onlooker",
    join(certificate.folder, "onlooker"),
  );
  const config = join(folder, "config");
  writeFileSync(config, wholeConfigs[name]({ sample: local, port, folder, certificate }));
  const [program, ...args] = commands[name](config);
  const child = spawn(program!, args, {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", text => {
      output += text;
    });
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      const killed = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await once(child, "exit");
      clearTimeout(killed);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await listening(child, port);
  } catch (error) {
    const log = join(folder, "log");
    if (existsSync(log)) output += readFileSync(log, "utf8");
    await stop();
    throw new Error(`${name}: ${(error as Error).message}\n${output}`);
  }
  return { port, stop };
}

export async function listening(child: ChildProcess, port: number): Promise<void> {
  for (const until = performance.now() + 20_000; performance.now() < until; await delay(50)) {
    assert.equal(child.exitCode, null, `exited with ${child.exitCode}`);
    const socket = connect(port, "127.0.0.1");
    const connected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
  }
  assert.fail("does not listen after 20 s");
}

/** Each in the foreground, so that a signal to the child stops it. */
const commands: Record<ProxyName, (config: string) => string[]> = {
  nginx: config => ["nginx", "-c", config, "-e", "stderr"],
  caddy: config => ["caddy", "run", "--adapter", "caddyfile", "--config", config],
  haproxy: config => ["haproxy", "-db", "-f", config],
  apache: config => ["apache2", "-DFOREGROUND", "-f", config],
};

type Local = { sample: string; port: number; folder: string; certificate: Certificate };

/** Adds what the samples leave to the system: the user, folders, logs, and another port than 443. */
const wholeConfigs: Record<ProxyName, (local: Local) => string> = {
  nginx: ({ sample, port, folder }) => `
daemon off;
${process.getuid?.() === 0 ? "user www-data;" : ""}
worker_processes 1;
pid ${folder}/pid;
events { worker_connections 256; }
http {
access_log off;
${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(kind => `${kind}_temp_path ${folder}/${kind};`).join("\n")}
${replaced(sample, "listen 443 ", `listen 127.0.0.1:${port} `)}
}
`,
  caddy: ({ sample, port, certificate: { folder } }) => `
{
	admin off
	auto_https off
}
${replaced(
  sample,
  `${publicHost} {`,
  `https://${publicHost}:${port}, https://other.example.net:${port} {
	bind 127.0.0.1
	tls ${folder}/onlooker.pem ${folder}/onlooker.key`,
)}
`,
  haproxy: ({ sample, port }) => `
global
  maxconn 256
${replaced(sample, "bind :443 ", `bind 127.0.0.1:${port} `)}
`,
  apache: ({ sample, port, folder }) => `
ServerRoot ${folder}
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
DocumentRoot ${folder}
User www-data
Group www-data
ErrorLog ${folder}/log
ServerName ${publicHost}
${[
  "mpm_event",
  "authz_core",
  "socache_shmcb",
  "alias",
  "headers",
  "ssl",
  "http2",
  "proxy",
  "proxy_http",
  "reqtimeout",
]
  .map(module => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`)
  .join("\n")}
RequestReadTimeout header=20-40,minrate=500
RequestReadTimeout body=10,minrate=500
Listen 127.0.0.1:${port}
${replaced(sample, "*:443", `127.0.0.1:${port}`)}
`,
};
