// Makes the files of test/fixtures/upgrade/: a dump of a database that a release filled, and what that release answered.
//
//   node test/wide/support/release-dump.ts <tag>      as root or not; needs git and Debian's PostgreSQL
//
// It starts that release from its own sources, with this checkout's packages, on a server of Debian's PostgreSQL (15 or
// newer) and dumps it with the pg_dump of that server, as statements that any driver can run.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bootstrapped, signedIn, startProcess, stopProcess } from "../../flow/processes.ts";
import { fillRelease, readRelease } from "../../support/release-data.ts";
import { makeScratch } from "../../support/scratch.ts";
import { debianPostgresql, startDebianPostgresql } from "./debian-postgresql.ts";
import { checkOutRelease } from "./release.ts";

const tag = process.argv[2];
const version = debianPostgresql();
if (tag === undefined || version === undefined) throw new Error("needs a tag, and Debian's PostgreSQL");
const target = join(import.meta.dirname, "../../fixtures/upgrade");
const scratch = makeScratch();
const server = await startDebianPostgresql(version);
try {
  const sources = checkOutRelease(tag, join(scratch, "release"));
  const env = {
    DATABASE_URL: server.url,
    SVC_DATA_DIR: join(scratch, "data"),
    SVC_DEBOUNCE_MS: "0",
    SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.1",
  };
  const made = await bootstrapped(env, sources);
  const release = await startProcess(env, { sources });
  const owner = await signedIn(release, made);
  await fillRelease({ url: release.url, ...made, owner });
  const answers = await readRelease(owner.client, made);
  await stopProcess(release);
  const dump = execFileSync(
    `/usr/lib/postgresql/${version}/bin/pg_dump`,
    ["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", "--no-comments", server.url],
    { encoding: "utf8", maxBuffer: 1e9 },
  );
  // Newer versions of pg_dump write two commands of psql.
  const statements = dump.replaceAll(/^\\(?:un)?restrict .*$/gm, "");
  const secretKey = readFileSync(join(scratch, "data/secret.key"), "utf8").trim();
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, `${tag}.sql.gz`), gzipSync(statements, { level: 9 }));
  writeFileSync(
    join(target, `${tag}.json.gz`),
    gzipSync(JSON.stringify({ secretKey, ...made, answers }), { level: 9 }),
  );
} finally {
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
}
