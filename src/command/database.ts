// Gives a command the database that the service uses: the one of the environment, or the embedded one, running or not.
import { existsSync } from "node:fs";
import type { Config } from "../config.ts";
import { connectEmbedded, openEmbedded } from "../embedded/database.ts";
import { EmbeddedError } from "../embedded/error.ts";
import { folderIn } from "../embedded/folder.ts";

type Log = Parameters<typeof openEmbedded>[0]["log"];

/** Whether the database is the embedded one, and its data folder has none yet. */
export function isDatabaseAbsent({ databaseUrl, databaseDirectUrl, dataDir }: Config): boolean {
  return (databaseDirectUrl ?? databaseUrl) === undefined && !existsSync(folderIn(dataDir).home);
}

/** Throws EmbeddedError if there is no database, which `withDatabase` would create. */
export function requireDatabase(config: Config): void {
  if (!isDatabaseAbsent(config)) return;
  throw new EmbeddedError(
    `There is no database in ${config.dataDir}.`,
    "Set SVC_DATA_DIR to the data folder of the service, or DATABASE_URL to its database.",
  );
}

/**
 * `url` leads to the database itself, not to a pooler. An embedded server that does not run is started, and stopped
 * afterwards; its data folder is created if needed, and `home` in it has the database. Throws EmbeddedError.
 */
export async function withDatabase<T>(
  config: Config,
  log: Log,
  work: (url: string, home?: string) => Promise<T>,
): Promise<T> {
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  if (url !== undefined) return work(url);
  const { dataDir } = config;
  const embedded = (await connectEmbedded(dataDir)) ?? (await openEmbedded({ dataDir, log }));
  try {
    return await work(embedded.url, folderIn(dataDir).home);
  } finally {
    await embedded.stop();
  }
}
