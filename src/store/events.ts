// Publishes events to every process by PostgreSQL's NOTIFY: batched for 200 ms, never within a commit. Events are hints
// to read again: the truth is in the tables, and a lost event only delays a refresh.
import type pg from "pg";
import type { IngestionEvent, LaunchEvent, ServiceEvent } from "../model/event.ts";
import { isRecord } from "../model/record.ts";
import { newClient } from "./connection/connect.ts";
import type { Database } from "./db.ts";

const channel = "onlooker_events";
// Commits that notify share one lock, so events are sent separately from the traces, a few times a second: one
// notification per trace would limit ingestion to some hundreds a second.
const batchMs = 200;
// PostgreSQL's limit is 8,000 bytes.
const messageBytesMax = 7_500;
const eventsOfAgentMax = 40;
// A client that retries a refused request without a pause causes one event a second; a project at most five.
const refusalEveryMs = 1_000;
const refusalsOfProjectMax = 5;

export class EventPublisher {
  readonly #db: Database;
  readonly #throttle = new RefusalThrottle();
  /** By agent; refusals by project. */
  #events = new Map<string | null, ServiceEvent[]>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(db: Database) {
    this.#db = db;
  }

  publish(event: ServiceEvent): void {
    if (event.type === "ingestion" && !this.#throttle.admits(event)) return;
    const subject = event.type === "ingestion" ? event.projectId : event.agentId;
    const events = this.#events.get(subject) ?? [];
    if (event.type === "launch" && events.some(other => isSameRun(event, other))) return;
    // One more than the limit marks that there were more.
    if (events.length <= eventsOfAgentMax) events.push(event);
    this.#events.set(subject, events);
    this.#timer ??= setTimeout(() => this.#flush(), batchMs);
  }

  /** Sends the current batch. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#flush();
    await this.#sending;
  }

  #flush(): void {
    this.#timer = undefined;
    const batched = this.#events;
    this.#events = new Map();
    const events = [...batched].flatMap(([agentId, ofAgent]): ServiceEvent[] =>
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
        // The database is unavailable: listeners refresh when they reconnect.
      }
    });
  }
}

/** A run sends up to five events while it is fast: begun, sent, answered, with its trace, ended. One is enough. */
function isSameRun(event: LaunchEvent, other: ServiceEvent): boolean {
  return other.type === "launch" && other.launchId === event.launchId && other.runId === event.runId;
}

/** Passes each distinct refusal of a project once a second, and at most five. */
class RefusalThrottle {
  #passed = new Map<string, Set<string>>();
  #until = 0;

  admits({ projectId, code, keyId, serviceName }: IngestionEvent): boolean {
    const now = performance.now();
    if (now >= this.#until) {
      this.#passed = new Map();
      this.#until = now + refusalEveryMs;
    }
    const passed = this.#passed.get(projectId) ?? new Set();
    const refusal = `${code} ${keyId} ${serviceName}`;
    if (passed.size >= refusalsOfProjectMax || passed.has(refusal)) return false;
    this.#passed.set(projectId, passed.add(refusal));
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

/** Any client of the database may notify. What is unreadable may have been an event, so everything is read again. */
function eventsOf(payload: string): ServiceEvent[] {
  try {
    const events: unknown = JSON.parse(payload);
    if (Array.isArray(events) && events.every(isEvent)) return events;
  } catch {}
  return [{ type: "refresh", agentId: null }];
}

const types: readonly unknown[] = [
  "trace",
  "run",
  "launch",
  "ingestion",
  "refresh",
] satisfies ServiceEvent["type"][];

function isEvent(event: unknown): event is ServiceEvent {
  if (!isRecord(event)) return false;
  return types.includes(event["type"]) && (event["agentId"] === null || typeof event["agentId"] === "string");
}

export type EventSubscription = { close(): Promise<void> };

/**
 * Calls `onEvent` for events of every process, over its own connection, which reconnects when it breaks. After a
 * reconnect it emits a refresh of everything, because events may have been missed.
 */
export function subscribe(url: string, onEvent: (event: ServiceEvent) => void): EventSubscription {
  let client: pg.Client | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let missed = false;

  async function connect(): Promise<void> {
    const opened = newClient(url, { connectionTimeoutMillis: 5_000 });
    client = opened;
    opened.on("end", reconnect);
    opened.on("notification", ({ payload }) => {
      for (const event of eventsOf(payload ?? "")) onEvent(event);
    });
    try {
      await opened.connect();
      await opened.query(`listen ${channel}`);
      if (missed) onEvent({ type: "refresh", agentId: null });
      missed = false;
    } catch {
      reconnect();
    }
  }

  function reconnect(): void {
    if (closed || retry) return;
    missed = true;
    retry = setTimeout(() => {
      retry = undefined;
      client?.removeListener("end", reconnect);
      void client?.end().catch(() => {});
      void connect();
    }, 1_000);
  }

  void connect();
  return {
    async close() {
      closed = true;
      clearTimeout(retry);
      client?.removeListener("end", reconnect);
      await client?.end().catch(() => {});
    },
  };
}
