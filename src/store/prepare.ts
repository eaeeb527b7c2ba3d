// Prepares the database at start: checks the connection, migrates, and drops checks that would refuse new rows. Waits for a
// database that is still starting.

import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { errorText } from "../log/error-text.ts";
import { checkWorkers, readDistributed } from "./cluster/nodes.ts";
import { requireCertificates } from "./connection/certificate-files.ts";
import { readDatabaseUrl } from "./connection/database-url.ts";
import { mayPass } from "./connection/may-pass.ts";
import { UnfitDatabaseError } from "./connection/unfit-database.ts";
import type { Addresses } from "./db.ts";
import { migrate } from "./migrate.ts";
import { dropPassedCheck } from "./ranges.ts";
import { checkSessions } from "./session-check.ts";

const patienceMs = 30_000;
const tooManyConnections = "53300";

/**
 * Returns the addresses, with whether the database is distributed. Throws UnfitDatabaseError if the database cannot be used, or
 * cannot be reached for 30 s, and the database's own error if it has no free connection as long. Once `signal` is aborted it cancels
 * a migration, which is rolled back, no longer waits, and throws what the database failed with.
 */
export async function prepareDatabase(
  addresses: Addresses,
  log: Pick<Logger, "info" | "warn">,
  signal?: AbortSignal,
  waitMs = patienceMs,
): Promise<Addresses> {
  for (const url of [addresses.url, addresses.directUrl]) requireCertificates(url);
  const deadline = performance.now() + waitMs;
  const hosts = [...new Set([addresses.url, addresses.directUrl])]
    .map(url => readDatabaseUrl(url)?.hosts)
    .join(" or ");
  const variables = addresses.pooled ? "DATABASE_URL or SVC_DATABASE_DIRECT_URL" : "DATABASE_URL";
  for (;;) {
    try {
      await checkSessions(addresses, log);
      const distributed = await readDistributed(addresses);
      const applied = await migrate(addresses.directUrl, { signal, home: addresses.home });
      if (applied.length > 0) log.info({ migrations: applied.length }, "Database migrated");
      await dropPassedCheck(addresses.directUrl);
      if (distributed) await checkWorkers(addresses, log);
      return { ...addresses, distributed };
    } catch (error) {
      if (!mayPass(error) || signal?.aborted) throw error;
      if (performance.now() > deadline) {
        if ((error as { code?: string }).code === tooManyConnections) throw error;
        throw new UnfitDatabaseError(
          `The database at ${hosts} cannot be reached (${errorText(error)}). Start it, or fix ${variables}.`,
        );
      }
      log.warn(
        { err: errorText(error) },
        `Waiting for the database at ${hosts}: start it, or fix ${variables}`,
      );
      await sleep(1_000, undefined, signal && { signal }).catch(() => {
        throw error;
      });
    }
  }
}

/**
 * For what a start asks of a database that is prepared, and may ask twice. On a busy machine a connection may take longer than
 * requests wait for one: asks again for 30 s, with rests of `restMs`.
 */
export async function untilAnswered<T>(ask: () => Promise<T>, restMs = 1_000): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!mayPass(error) || performance.now() > deadline) throw error;
      await sleep(restMs);
    }
  }
}
