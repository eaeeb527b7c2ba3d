// The audit of dependencies, against a server that plays the registry: what fails it, what is allowed, and until when.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { licenseProblems, packageOf } from "../../scripts/audit/licenses.ts";
import { childEnv } from "../support/child-env.ts";

const script = join(import.meta.dirname, "../../scripts/audit.ts");
const scratch = mkdtempSync(join(tmpdir(), "onlooker-audit-"));
const { licenses } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../scripts/audit/allowed.json"), "utf8"),
);

/** What the registry knows, by package; undefined: it has no such endpoint, as mirrors have not. */
let advisories: Record<string, object[]> | undefined;
/** The packages of the last audit. */
let asked: Record<string, string[]> = {};
const registry = createServer(async (request, response) => {
  const isAudit = request.method === "POST" && request.url === "/-/npm/v1/security/advisories/bulk";
  if (!isAudit || !advisories) return void response.writeHead(isAudit ? 405 : 404).end("{}");
  const body = await buffer(request);
  asked = JSON.parse(String(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body));
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(advisories));
});
before(async () => {
  await once(registry.listen(0, "127.0.0.1"), "listening");
});
after(() => {
  registry.closeAllConnections();
  registry.close();
  rmSync(scratch, { recursive: true });
});

const id = "GHSA-aaaa-bbbb-cccc";
const advisory = (severity: string) => ({
  id: 1,
  url: `https://github.com/advisories/${id}`,
  title: "Reads too much",
  severity,
  vulnerable_versions: "<999",
  cwe: [],
  cvss: { score: 9, vectorString: null },
});

async function audit(
  allowed: object[] = [],
  ...options: string[]
): Promise<{ code: number; lines: string[] }> {
  const file = join(scratch, "allowed.json");
  writeFileSync(file, JSON.stringify({ advisories: allowed, licenses }));
  const { port } = registry.address() as AddressInfo;
  const child = spawn(process.execPath, [script, file, ...options], {
    // A cache of its own: npm keeps advisories by their ids.
    env: {
      ...childEnv,
      npm_config_cache: mkdtempSync(join(scratch, "npm-")),
      npm_config_registry: `http://127.0.0.1:${port}/`,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { code, lines: output.trim().split("\n") };
}

test("a high or critical advisory fails the audit, a moderate one does not, and every package is asked about", async () => {
  for (const [severity, code] of [
    ["critical", 1],
    ["high", 1],
    ["moderate", 0],
  ] as const) {
    advisories = { undici: [advisory(severity)] };
    const { code: exit, lines } = await audit();
    assert.equal(exit, code, severity);
    if (code === 1) assert.equal(lines[0], `${id}: ${severity} in undici <999: Reads too much`);
  }
  for (const name of ["undici", "fastify", "react", "typescript"]) assert.ok(asked[name], name);
});

test("an allowed advisory passes until it expires, and is removed when it is no longer reported", async () => {
  advisories = { undici: [advisory("high")] };
  const reason = "Onlooker does not use this part.";
  assert.equal((await audit([{ id, reason, expires: "2999-01-01" }])).code, 0);
  const expired = await audit([{ id, reason, expires: "2020-01-01" }]);
  assert.equal(expired.code, 1);
  assert.match(expired.lines.join("\n"), /GHSA-aaaa-bbbb-cccc expired on 2020-01-01: update the package/);
  advisories = {};
  const gone = await audit([{ id, reason, expires: "2999-01-01" }]);
  assert.deepEqual(
    [gone.code, gone.lines[0]],
    [1, `allowed advisory ${id} is no longer reported: remove it`],
  );
});

test("a registry that cannot be asked is said and fails nothing but a release, and an expired entry does", async () => {
  advisories = undefined;
  const { code, lines } = await audit();
  assert.equal(code, 0);
  assert.match(lines[0]!, /^left out: advisories of dependencies: the registry cannot be asked \(.*405/);
  assert.equal((await audit([{ id, reason: "Old.", expires: "2020-01-01" }])).code, 1);
  assert.equal((await audit([], "--required")).code, 1);
  advisories = {};
  assert.equal((await audit([], "--required")).code, 0);
});

test("a license of a shipped package that is not allowed fails, also one in the dashboard's bundle", () => {
  const lock = {
    packages: {
      "": {},
      "node_modules/server": { version: "1.0.0", license: "MIT" },
      "node_modules/either": { version: "1.0.0", license: "(GPL-3.0 OR MIT)" },
      "node_modules/both": { version: "1.0.0", license: "MIT AND GPL-3.0" },
      "node_modules/tool": { version: "1.0.0", license: "GPL-3.0", dev: true },
      "node_modules/chart": {
        version: "1.0.0",
        license: "MIT",
        dev: true,
        dependencies: { axis: "1", tick: "1" },
      },
      "node_modules/axis": { version: "1.0.0", license: "MIT", dev: true },
      "node_modules/chart/node_modules/axis": { version: "2.0.0", license: "CC-BY-4.0", dev: true },
      "node_modules/tick": { version: "3.0.0", dev: true },
    },
  };
  assert.deepEqual(licenseProblems(lock, ["chart"], ["MIT"]), [
    "both 1.0.0: license MIT AND GPL-3.0 is not allowed",
    "axis 2.0.0: license CC-BY-4.0 is not allowed",
    "tick 3.0.0: license unknown is not allowed",
  ]);
  assert.deepEqual(["@scope/name/part", "react/jsx-runtime", "./file.ts", "node:fs"].map(packageOf), [
    "@scope/name",
    "react",
    undefined,
    undefined,
  ]);
});
