// The editor thread: the test editor with its own judge clients, sandbox and database connections.

import { workerData } from "node:worker_threads";
import type { Config } from "../config.ts";
import { openEditor } from "../editor.ts";
import { clientOpener } from "../judge/connections.ts";
import { Judges } from "../judge.ts";
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import { logStream, openLog } from "../log.ts";
import type { CountedCall } from "../model/judge/call.ts";
import { openOutbound } from "../remote/outbound.ts";
import { Sandbox } from "../remote/sandbox/sandbox.ts";
import { openStore } from "../store/cluster/open.ts";
import { type Addresses, asUnreadable } from "../store/db.ts";
import { masterKeyOf } from "../store/secrets/master-key.ts";
import { openVault } from "../store/secrets/vault.ts";
import { traceLimits } from "../threads/heap.ts";
import { Semaphore } from "../threads/semaphore.ts";
import { sendEvent, serveThread } from "../threads/serve.ts";

const { config, addresses, processes } = workerData as EditorThreadData;

const db = openStore(addresses, 2);
const sandbox = new Sandbox();
const log = openLog(config.logLevel, logStream(config.logFormat));
const outbound = openOutbound({ allow: config.allowPrivateTargets });
const judges = new Judges({
  db,
  vault: openVault(await masterKeyOf(config)),
  environment: config.judge ?? null,
  timeoutMs: config.judgeTimeoutMs,
  accountTokensMax: config.judgeAccountTokensPerDay ?? null,
  // At most 4 calls on the machine besides those of the evaluation threads: few users wait for a dry run at a time.
  openClient: clientOpener({
    outbound,
    log,
    threads: processes,
    semaphore: (_, concurrency) =>
      new Semaphore(Math.max(1, Math.floor(Math.min(4, concurrency) / processes))),
  }),
  log,
  onCall: ({ kind, state }) => sendEvent({ kind, state } satisfies CountedCall),
});

const heap = new HeapSemaphore(traceLimits(config.bounds.traceBytesMax));

serveThread(openEditor({ db, judgeOf: judges.judgeOf, judgeWith: judges.judgeWith, sandbox, heap }), {
  toRefusal: asUnreadable,
  async stop() {
    await judges.close();
    await outbound.close();
    await sandbox.close();
    await db.close();
  },
});

export type EditorThreadData = {
  config: Config;
  addresses: Addresses;
  /** HTTP processes on this machine, which have such a thread each. */
  processes: number;
};
