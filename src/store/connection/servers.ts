// Finds the server that accepts writes among those of a URL, and closes connections to the one that was it before.

import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { errorText } from "../../log/error-text.ts";
import { mayPass } from "./may-pass.ts";

export type Server = {
  readonly url: string;
  readonly host: string;
  readonly port: number;
};

type Answer = {
  server: Server;
  /** Counts the promotions that led to this server's data; 0 if it is a standby or unreachable. */
  timeline: number;
  error?: Error;
};

// Less than the 2 s that a query waits for a connection.
const probeMs = 1_500;
// What a server that is reachable needs to answer, once another has answered.
const graceMs = 300;

/** The servers of one URL as this thread knows them. */
export class Servers {
  readonly #servers: Server[];
  readonly #connections = new Map<() => void, Server>();
  #primary: Server | undefined;
  #finding: Promise<Server> | undefined;
  #newest = 0;

  constructor(urls: string[]) {
    this.#servers = urls.map(url => {
      const { host, port } = new pg.Client({ connectionString: url }); // as it reads them
      return { url, host, port };
    });
  }

  /** The server that accepts writes. While there is none it rejects, with what is wrong with all if that does not pass. */
  async locate(): Promise<Server> {
    if (this.#primary) return this.#primary;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** The server did not answer, or is a standby now: the next connection looks for the primary again. */
  lost(server: Server): void {
    if (this.#primary === server) this.#primary = undefined;
  }

  /** `disconnect` is called when another server becomes the primary. Returns what to call when the connection ends. */
  join(server: Server, disconnect: () => void): () => void {
    this.#connections.set(disconnect, server);
    return () => void this.#connections.delete(disconnect);
  }

  /**
   * Of several servers that accept writes, the one that was promoted last. A former primary that came back as one is
   * never used, even where it is the only one that answers: what it accepted would be lost.
   */
  async #find(): Promise<Server> {
    const answers = await askAll(this.#servers);
    const newest = Math.max(...answers.map(({ timeline }) => timeline));
    if (newest === 0 || newest < this.#newest) throw noPrimary(answers);
    this.#newest = newest;
    const { server } = answers.find(({ timeline }) => timeline === newest)!;
    this.#primary = server;
    for (const [disconnect, other] of [...this.#connections]) if (other !== server) disconnect();
    return server;
  }
}

const known = new Map<string, Servers>();

/** The same object for every pool and connection of this thread with this URL. */
export function serversOf(url: string, urls: string[]): Servers {
  const servers = known.get(url) ?? new Servers(urls);
  known.set(url, servers);
  return servers;
}

/** In the order of the servers: all answers, or those that arrive soon after the first primary's. */
async function askAll(servers: Server[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const primary = Promise.withResolvers<void>();
  const all = servers.map(async (server, index) => {
    const answer = await ask(server);
    answers[index] = answer;
    if (answer.timeline > 0) primary.resolve();
  });
  await Promise.race([Promise.all(all), primary.promise.then(() => sleep(graceMs))]);
  return answers.filter(answer => answer !== undefined);
}

// A function that is not called fails nowhere: a standby has no current position.
const timelineQuery = `select case
  when pg_is_in_recovery() or current_setting('default_transaction_read_only')::bool then 0
  else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int
end as timeline`;

async function ask(server: Server): Promise<Answer> {
  const limits = { connectionTimeoutMillis: probeMs, query_timeout: probeMs };
  const client = new pg.Client({ connectionString: server.url, ...limits });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ timeline: number }>(timelineQuery);
    return { server, timeline: rows[0]!.timeline };
  } catch (error) {
    return { server, timeline: 0, error: error as Error };
  } finally {
    client.end().catch(() => {});
  }
}

function noPrimary(answers: Answer[]): Error {
  // A wrong password or database stays wrong.
  const wrong = answers.find(({ error }) => /^(28|3D)/.test((error as { code?: string })?.code ?? ""));
  if (wrong) return wrong.error!;
  const full = answers.filter(({ error }) => (error as { code?: string })?.code === "53300");
  if (full.length > 0 && full.length === answers.length) return full[0]!.error!;
  // Nor does a certificate become right, and no server is left that may accept writes.
  if (answers.every(({ error }) => error && !mayPass(error))) return answers[0]!.error!;
  const states = answers.map(({ server: { host, port }, timeline, error }) => {
    const state = error ? errorText(error) : stateOf(timeline);
    return `${host}:${port} (${state})`;
  });
  return new Error(`No server accepts writes: ${states.join(", ")}`);
}

const stateOf = (timeline: number) => (timeline === 0 ? "read-only" : "a former primary");
