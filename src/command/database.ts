// Gives a command the database that the service uses: the one of the environment, or the embedded one, running or not.
import type { Config } from "../config.ts";
import { connectEmbedded, openEmbedded } from "../embedded/database.ts";

type Log = Parameters<typeof openEmbedded>[0]["log"];

/**
 * `url` leads to the database itself, not to a pooler. An embedded server that does not run is started, and stopped
 * afterwards; its data folder is created if needed. Throws EmbeddedError.
 */
export async function withDatabase<T>(
  config: Config,
  log: Log,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  if (url !== undefined) return work(url);
  const { dataDir } = config;
  const embedded = (await connectEmbedded(dataDir)) ?? (await openEmbedded({ dataDir, log }));
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}
