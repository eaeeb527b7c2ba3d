// Tells every process what happened, through PostgreSQL's NOTIFY: gathered for a moment, never on the path of a
// commit. Events are hints to read again; the truth is in the tables, so one that is lost costs a late refresh.
import pg from "pg";
import type { IngestionEvent, ServiceEvent } from "../model/event.ts";
import type { Database } from "./db.ts";

const channel = "onlooker_events";
// A commit that notifies takes a lock that all such commits share, so events go out by themselves, a few times a
// second, and not with the traces: one call per trace would hold ingestion to some hundreds a second.
const gatherMs = 200;
// PostgreSQL's limit is 8,000 bytes.
const messageBytesMax = 7_500;
const eventsOfAgentMax = 40;
// Whoever retries a refused request without a pause is told of once a second; and few such of a project.
const refusalEveryMs = 1_000;
const refusalsOfProjectMax = 5;

export class EventPublisher {
  readonly #db: Database;
  readonly #throttle = new RefusalThrottle();
  /** By agent; refusals by project. */
  #gathered = new Map<string | null, ServiceEvent[]>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(db: Database) {
    this.#db = db;
  }

  publish(event: ServiceEvent): void {
    if (event.type === "ingestion" && !this.#throttle.admits(event)) return;
    const subject = event.type === "ingestion" ? event.projectId : event.agentId;
    const events = this.#gathered.get(subject) ?? [];
    // One past the limit marks that there were more.
    if (events.length <= eventsOfAgentMax) events.push(event);
    this.#gathered.set(subject, events);
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

/** Lets through each refusal of a project that differs from those before it, up to a few a second. */
class RefusalThrottle {
  #told = new Map<string, Set<string>>();
  #until = 0;

  admits({ projectId, code, keyId, serviceName }: IngestionEvent): boolean {
    const now = performance.now();
    if (now >= this.#until) {
      this.#told = new Map();
      this.#until = now + refusalEveryMs;
    }
    const told = this.#told.get(projectId) ?? new Set();
    const refusal = `${code} ${keyId} ${serviceName}`;
    if (told.size >= refusalsOfProjectMax || told.has(refusal)) return false;
    this.#told.set(projectId, told.add(refusal));
    return true;
  }
}

/** The events as JSON lists, each within PostgreSQL's limit. */
function messagesOf(events: ServiceEvent[]): string[] {
  const messages: string[] = [];
  let current = "";
  let bytes = 0;
  for (const event of events) {
    const text = JSON.stringify(event);
    const more = Buffer.byteLength(text) + 1;
    if (current && bytes + more > messageBytesMax) {
      messages.push(`[${current}]`);
      current = "";
      bytes = 0;
    }
    current += current ? `,${text}` : text;
    bytes += more;
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
