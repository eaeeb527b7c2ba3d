// The rows of one list of traces: read page by page as far as somebody scrolls, and kept up to date by few requests.
import type { ServiceEvent } from "../../src/model/event.ts";
import type { RunState } from "../../src/model/run/run.ts";

/** What the list itself knows of its rows. */
type Listed = { id: string; externalId: string; run: { state: RunState } | null };
type Page<R> = { items: R[]; nextCursor: string | null };

export type Shown<R> = {
  /** Newest first, which is the order of their ids. */
  rows: readonly R[];
  /** Where reading goes on; "" before the first page, null: all are here. */
  nextCursor: string | null;
  busy: boolean;
  failure: Error | null;
  /** How many newer ones wait for whoever is not at the top; `atLeast`: there may be more. */
  fresh: { count: number; atLeast: boolean };
};

/** Asks the API with the list's own filters and these besides. */
type Read<R> = (query: Record<string, string>) => Promise<Page<R>>;

const pageLimit = "200";
const headLimit = 100;
/** Events are gathered: the first of some quiet time is followed at once, then at most one look each second. */
const soonMs = 100;
const everyMs = 1_000;
/** Of rows far down that changed, only those in sight are read again, so many at a time. */
const rowsAtOnce = 8;

export class TraceList<R extends Listed> {
  readonly #read: Read<R>;
  readonly #listeners = new Set<() => void>();
  #shown: Shown<R> = {
    rows: [],
    nextCursor: "",
    busy: false,
    failure: null,
    fresh: { count: 0, atLeast: false },
  };
  /** Rows that have changed since they were read. */
  readonly #changed = new Set<string>();
  #headChanged = false;
  /** The newest page, for whoever is not at the top. */
  #held: Page<R> | undefined;
  #atTop = true;
  #asleep = true;
  #inSight: [first: number, last: number] = [0, 0];
  #looking = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts how often the list began anew: a page of before does not continue it. */
  #beginnings = 0;

  constructor(read: Read<R>) {
    this.#read = read;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  shown = (): Shown<R> => this.#shown;

  /** Reads one page further, unless that is under way, failed, or everything is here. */
  async more(): Promise<void> {
    const { nextCursor, busy, failure } = this.#shown;
    if (busy || failure || nextCursor === null) return;
    this.#show({ busy: true });
    const beginning = this.#beginnings;
    const query = { limit: pageLimit, ...(nextCursor && { cursor: nextCursor }) };
    const page = await this.#read(query).catch((error: Error) => error);
    if (beginning !== this.#beginnings) return;
    if (page instanceof Error) return this.#show({ busy: false, failure: page });
    const { rows } = this.#shown;
    const lowest = rows.at(-1)?.id;
    const further = page.items.filter(({ id }) => lowest === undefined || id < lowest);
    this.#show({ busy: false, rows: [...rows, ...further], nextCursor: page.nextCursor });
    if (this.#headChanged) this.#lookSoon();
  }

  retry(): void {
    this.#show({ failure: null });
    void this.more();
  }

  /** While nobody looks, or somebody paused, nothing is asked. */
  sleep(): void {
    this.#asleep = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  wake(): void {
    this.#asleep = false;
    this.hear({ type: "refresh", agentId: null });
  }

  hear(event: ServiceEvent): void {
    if (this.#asleep || event.type === "ingestion" || event.type === "launch") return;
    if (this.#shown.nextCursor === "") {
      // The first page, which is under way, may not have it.
      this.#headChanged = true;
      return;
    }
    if (event.type === "refresh") {
      this.#headChanged = true;
      for (const { id, run } of this.#shown.rows) {
        if (run?.state === "pending" || run?.state === "running") this.#changed.add(id);
      }
    } else if (event.type === "trace" && event.change === "deleted") {
      this.#remove(event.traceId);
    } else if (this.indexOf(event.traceId) < 0) {
      // It may pass the filters now.
      this.#headChanged = true;
    } else this.#changed.add(event.traceId);
    this.#lookSoon();
  }

  /** Which rows can be seen, by their positions. */
  see(first: number, last: number): void {
    this.#inSight = [first, last];
    if (this.#changed.size > 0) this.#lookSoon();
  }

  /** At the top new rows appear by themselves. */
  setAtTop(atTop: boolean): void {
    this.#atTop = atTop;
    if (!atTop || !this.#held) return;
    const held = this.#held;
    this.#held = undefined;
    this.#join(held);
  }

  /** The row's position; below 0 where it is not here. */
  indexOf(id: string): number {
    const at = this.positionFor(id);
    return this.#shown.rows[at]?.id === id ? at : -1;
  }

  /** Where the row is, or would be. */
  positionFor(id: string): number {
    const { rows } = this.#shown;
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (rows[middle]!.id > id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #show(change: Partial<Shown<R>>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const listener of this.#listeners) listener();
  }

  #lookSoon(): void {
    if (this.#asleep || this.#looking || this.#timer !== undefined) return;
    const wait = Math.max(soonMs, this.#lookedAt + everyMs - performance.now());
    this.#timer = setTimeout(() => void this.#look(), wait);
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const { rows } = this.#shown;
    const headLowest = rows[Math.min(headLimit, rows.length) - 1]?.id ?? "";
    const head = this.#headChanged || [...this.#changed].some(id => id >= headLowest);
    const [first, last] = this.#inSight;
    const apart = rows
      .slice(Math.max(first, head ? headLimit : 0), last + 1)
      .filter(({ id }) => this.#changed.has(id))
      .slice(0, rowsAtOnce);
    if (!head && apart.length === 0) return;
    this.#looking = true;
    this.#headChanged = false;
    const inHead = head ? [...this.#changed].filter(id => id >= headLowest) : [];
    for (const id of [...inHead, ...apart.map(({ id }) => id)]) this.#changed.delete(id);
    // What cannot be read now is told of again: the stream of events breaks along with the server.
    await Promise.allSettled([head && this.#readHead(inHead), ...apart.map(row => this.#readRow(row))]);
    this.#looking = false;
    this.#lookedAt = performance.now();
    if (this.#headChanged || this.#changed.size > 0) this.#lookSoon();
  }

  async #readHead(changed: string[]): Promise<void> {
    const head = await this.#read({ limit: String(headLimit) });
    // Newer ones may have pushed them out of it.
    const lowest = lowestOf(head) ?? "~";
    for (const id of changed) if (id < lowest) this.#changed.add(id);
    if (this.#asleep) return;
    if (this.#atTop || this.#shown.rows.length === 0) return this.#join(head);
    this.#held = head;
    const rows = this.#shown.rows.slice();
    for (const row of head.items) {
      const at = this.indexOf(row.id);
      if (at >= 0) rows[at] = row;
    }
    const newest = rows[0]!.id;
    const count = head.items.filter(({ id }) => id > newest).length;
    this.#show({ rows, fresh: { count, atLeast: !this.#continues(head) } });
  }

  async #readRow({ id, externalId }: R): Promise<void> {
    const { items, nextCursor } = await this.#read({ externalId, limit: "1" });
    const at = this.indexOf(id);
    if (items[0]?.id === id) {
      if (at >= 0) this.#show({ rows: this.#shown.rows.with(at, items[0]) });
    } else if (nextCursor === null) this.#remove(id);
  }

  /** Whether nothing is left out between the newest page and the rows that are here. */
  #continues({ items, nextCursor }: Page<R>): boolean {
    const newest = this.#shown.rows[0]?.id;
    return nextCursor === null || newest === undefined || newest >= (items.at(-1)?.id ?? newest);
  }

  /** The newest page takes the place of all that it looked at; what does not continue it is left to be read anew. */
  #join(head: Page<R>): void {
    const { rows, nextCursor } = this.#shown;
    const fresh = { count: 0, atLeast: false };
    if (!this.#continues(head)) {
      this.#beginnings++;
      this.#changed.clear();
      this.#show({ rows: head.items, nextCursor: head.nextCursor, busy: false, failure: null, fresh });
      return;
    }
    const lowest = lowestOf(head);
    if (lowest === undefined) {
      this.#show({ fresh });
      return;
    }
    const wasAll = head.nextCursor === null || (rows.length === 0 && nextCursor === null);
    this.#show({
      rows: [...head.items, ...rows.filter(({ id }) => id < lowest)],
      nextCursor: wasAll ? head.nextCursor : nextCursor,
      fresh,
    });
  }

  #remove(id: string): void {
    const at = this.indexOf(id);
    this.#changed.delete(id);
    if (at >= 0) this.#show({ rows: this.#shown.rows.toSpliced(at, 1) });
  }
}

/** Down to which id the newest page knows all; undefined: of none, it found nothing in the time it had. */
function lowestOf({ items, nextCursor }: Page<{ id: string }>): string | undefined {
  return nextCursor === null ? "" : items.at(-1)?.id;
}
