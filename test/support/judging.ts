// Judging as a thread opens it: a real database, real lines, and a judge that some local server is.
import pino from "pino";
import { lineOpener } from "../../src/judging/lines.ts";
import { type Judging, type JudgingDeps, openJudging } from "../../src/judging.ts";
import type { JudgeConnection } from "../../src/model/judge-call.ts";
import { openOutbound } from "../../src/remote/outbound.ts";
import type { Database } from "../../src/store/db.ts";
import { openVault } from "../../src/store/vault.ts";

export const testVault = openVault(Buffer.alloc(32, 7));

/** `environment`: who judges for projects without a connection of their own; null: nobody does. */
export function openTestJudging(
  db: Database,
  environment: JudgeConnection | null,
  more: Partial<JudgingDeps> = {},
): Judging {
  const log = pino({ level: "silent" });
  const outbound = openOutbound({ allow: ["127.0.0.0/8"] });
  return openJudging({
    db,
    vault: testVault,
    environment,
    openLine: lineOpener({ outbound, log, concurrencyOf: concurrency => concurrency }),
    log,
    ...more,
  });
}
