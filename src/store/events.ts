// Tells every process what happened, through PostgreSQL's NOTIFY: gathered for a moment, never on the path of a
// commit. Events are hints to read again; the truth is in the tables, so one that is lost costs a late refresh.
import pg from "pg";
import type { ServiceEvent } from "../model/event.ts";
import type { Database } from "./db.ts";

const channel = "onlooker_events";
// A commit that notifies takes a lock that all such commits share, so events go out by themselves, a few times a
// second, and not with the traces: one call per trace would hold ingestion to some hundreds a second.
const gatherMs = 200;
// PostgreSQL's limit is 8,000 bytes.
const messageBytesMax = 7_500;
const eventsOfAgentMax = 40;

export class EventPublisher {
  readonly #db: Database;
  #gathered = new Map<string | null, ServiceEvent[]>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(db: Database) {
    this.#db = db;
  }

  publish(event: ServiceEvent): void {
    const events = this.#gathered.get(event.agentId) ?? [];
    // One past the limit marks that there were more.
    if (events.length <= eventsOfAgentMax) events.push(event);
    this.#gathered.set(event.agentId, events);
    this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
  }

  /** Sends what is gathered. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#flush();
    await this.#sending;
  }

  #flush(): void {
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = new Map();
    const events = [...gathered].flatMap(([agentId, ofAgent]): ServiceEvent[] =>
      ofAgent.length > eventsOfAgentMax ? [{ type: "refresh", agentId }] : ofAgent,
    );
    if (events.length === 0) return;
    this.#sending = this.#sending.then(async () => {
      try {
        await this.#db.pool.query("select pg_notify($1, message) from unnest($2::text[]) as message", [
          channel,
          messagesOf(events),
        ]);
      } catch {
        // The database is away: listeners refresh when they are connected again.
      }
    });
  }
}

/** The events as JSON lists, each within PostgreSQL's limit. */
function messagesOf(events: ServiceEvent[]): string[] {
  const messages: string[] = [];
  let current = "";
  for (const event of events) {
    const text = JSON.stringify(event);
    if (current && current.length + text.length > messageBytesMax) {
      messages.push(`[${current}]`);
      current = "";
    }
    current += current ? `,${text}` : text;
  }
  return current ? [...messages, `[${current}]`] : messages;
}

export type EventSubscription = { close(): Promise<void> };

/**
 * Calls `onEvent` for what any process publishes, over a connection of its own that is dialled again whenever it
 * breaks; then, and only then, a refresh of everything is told, because something may have been missed.
 */
export function subscribe(url: string, onEvent: (event: ServiceEvent) => void): EventSubscription {
  let client: pg.Client | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let missed = false;

  async function connect(): Promise<void> {
    const dialled = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    client = dialled;
    dialled.on("error", () => {});
    dialled.on("end", again);
    dialled.on("notification", ({ payload }) => {
      for (const event of JSON.parse(payload ?? "[]") as ServiceEvent[]) onEvent(event);
    });
    try {
      await dialled.connect();
      await dialled.query(`listen ${channel}`);
      if (missed) onEvent({ type: "refresh", agentId: null });
      missed = false;
    } catch {
      again();
    }
  }

  function again(): void {
    if (closed || retry) return;
    missed = true;
    retry = setTimeout(() => {
      retry = undefined;
      client?.removeListener("end", again);
      void client?.end().catch(() => {});
      void connect();
    }, 1_000);
  }

  void connect();
  return {
    async close() {
      closed = true;
      clearTimeout(retry);
      client?.removeListener("end", again);
      await client?.end().catch(() => {});
    },
  };
}
