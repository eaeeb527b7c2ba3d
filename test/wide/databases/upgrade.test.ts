// An upgrade keeps everything: this version starts on a data folder that the release before filled, with its embedded
// database and its secret.key. Needs that release from git.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bootstrapped, signedIn, startProcess, stopProcess, stopProcesses } from "../../flow/processes.ts";
import { checkUpgrade, fillRelease, readRelease } from "../../support/release-data.ts";
import { makeScratch } from "../../support/scratch.ts";
import { checkOutRelease, hasCommit } from "../support/release.ts";

/** The release before: its dump is test/fixtures/upgrade/. */
const release = "99870f55";
const skip = !hasCommit(release) && `needs the history of git, with ${release}`;

const scratch = makeScratch();
after(async () => {
  await stopProcesses();
  rmSync(scratch, { recursive: true, force: true });
});

test("a data folder of the release before: every answer is the same, and new traces are evaluated", {
  skip,
}, async () => {
  const env = {
    SVC_DATA_DIR: join(scratch, "data"),
    SVC_DEBOUNCE_MS: "0",
    SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.1",
  };
  const sources = checkOutRelease(release, join(scratch, "release"));
  const made = await bootstrapped(env, sources);
  const before = await startProcess(env, { sources });
  const owner = await signedIn(before, made);
  await fillRelease({ url: before.url, ...made, owner });
  const answers = await readRelease(owner.client, made);
  assert.equal(await stopProcess(before), 0);

  // The judge is gone; an address that may not be called is an answer, and nothing waits for it.
  const service = await startProcess({ ...env, SVC_ALLOW_PRIVATE_TARGETS: "" });
  assert.match(service.logs.join("\n"), /Database migrated/);
  assert.doesNotMatch(service.logs.join("\n"), /another key/);
  await checkUpgrade(service.url, { ...made, answers });
  assert.equal(await stopProcess(service), 0);
});
