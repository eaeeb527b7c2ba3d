// Opens connections to PostgreSQL: to the server of several that accepts writes, and without named statements behind a
// pooler.
import pg from "pg";
import { readDatabaseUrl } from "./database-url.ts";
import { LightClient } from "./light-client.ts";
import { type Servers, serversOf } from "./servers.ts";

// Behind a vanished machine a connection is found dead after 20 s and not after two hours: Node then asks every second.
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** The `application_name` of sessions whose URL names no other: who shares the database knows whose they are. */
export const applicationName = "onlooker";
const always = { ...keepAlive, application_name: applicationName };

/** Options of a session that may wait for locks and take its time. */
export const noTimeouts = "-c statement_timeout=0 -c lock_timeout=0";

/** Those of node-postgres; `options` are added to those of the URL. */
export type ConnectOptions = pg.PoolConfig & {
  /** How long a statement may wait for its answer. */
  answerMs?: number;
  /** Statements have no names, because a pooler may send each transaction to another session. */
  unnamed?: boolean;
};

export function openPool(url: string, options: ConnectOptions = {}): pg.Pool {
  const { Client, config } = connector(url, options);
  const pool = new pg.Pool({ ...config, Client } as pg.PoolConfig);
  // The pool replaces broken connections. Without listeners they would end the process: the pool's listener is for idle
  // connections, that of a connection for one that breaks between two statements of a transaction.
  pool.on("error", () => {});
  pool.on("connect", client => void client.on("error", () => {}));
  return pool;
}

/** A connection of its own, not opened yet. One that breaks emits `end`. */
export function newClient(url: string, options: ConnectOptions = {}): pg.Client {
  const { Client, config } = connector(url, options);
  const client = new Client(config);
  client.on("error", () => {});
  return client;
}

function connector(text: string, { unnamed = false, ...given }: ConnectOptions) {
  const url = readDatabaseUrl(text);
  // What is no such URL fails when it connects.
  if (url === undefined)
    return { Client: MarkingClient, config: { ...always, ...given, connectionString: text } };
  const options = [url.options, given.options].filter(Boolean).join(" ");
  const config = { ...always, ...given, options, connectionString: url.servers[0]! };
  const Plain = unnamed ? UnnamedClient : MarkingClient;
  return { Client: url.primary ? toPrimary(Plain, serversOf(text, url.servers)) : Plain, config };
}

const connectFaults = new WeakSet<Error>();

/** Whether this kept a connection from being opened: an outage, but also a rejected login or certificate. */
export function isConnectFault(error: unknown): boolean {
  return error instanceof Error && connectFaults.has(error);
}

/** Rethrows it. */
function markFault(error: Error): never {
  connectFaults.add(error);
  throw error;
}

/** Remembers which errors kept it from connecting. */
class MarkingClient extends LightClient {
  override connect(callback?: unknown): Promise<pg.Client> {
    const connected = super.connect().catch(markFault);
    if (typeof callback === "function") {
      connected.then(() => (callback as Connected)(undefined), callback as Connected);
    }
    return connected as Promise<pg.Client>;
  }
}

class UnnamedClient extends MarkingClient {
  // biome-ignore lint/suspicious/noExplicitAny: the method has seven overloads, and none matters here
  override query(config: any, ...rest: any[]): any {
    const named = typeof config === "object" && config?.name !== undefined;
    return (super.query as (...args: unknown[]) => unknown)(
      named ? { ...config, name: undefined } : config,
      ...rest,
    );
  }
}

type Connected = (error: Error | undefined) => void;

/** Clients that connect to the server that accepts writes, and report when it no longer does. */
function toPrimary(Client: typeof pg.Client, servers: Servers): typeof pg.Client {
  return class extends Client {
    override connect(callback?: unknown): Promise<pg.Client> {
      const connected = this.#connect();
      if (typeof callback === "function") {
        connected.then(() => (callback as Connected)(undefined), callback as Connected);
      }
      return connected;
    }

    async #connect(): Promise<this> {
      const server = await servers.locate().catch(markFault);
      this.host = server.host;
      this.port = server.port;
      const leave = servers.join(server, () => this.connection.stream.destroy());
      this.once("end", leave);
      this.on("error", () => servers.lost(server));
      this.connection.on("errorMessage", ({ code }: { code?: string }) => {
        if (code === "25006") servers.lost(server);
      });
      try {
        await super.connect();
      } catch (error) {
        leave();
        servers.lost(server);
        throw error;
      }
      return this;
    }
  };
}
