// Rows of a trace list: loaded page by page on scroll, and kept up to date with few requests.
import type { ServiceEvent } from "../../src/model/event.ts";
import type { RunState } from "../../src/model/run/run.ts";
import { type ListKind, nothingShown, type Page, type Shown, withPage } from "./trace-pages.ts";

/** The fields of a row that the list needs. */
type Listed = { id: string; externalId: string; run: { state: RunState } | null };
/** Fetches a page with the list's filters and this additional query. */
type Read<R> = (query: Record<string, string>) => Promise<Page<R>>;

const pageLimit = "200";
const headLimit = 100;
/** Throttling of updates: 100 ms after the first event, then at most once per second. */
const firstDelayMs = 100;
const intervalMs = 1_000;
/** Below the first page only visible rows are refetched, at most this many at a time. */
const refetchedRowsMax = 8;

export class TraceList<R extends Listed> {
  readonly kind: ListKind;
  readonly #read: Read<R>;
  readonly #listeners = new Set<() => void>();
  #shown: Shown<R> = nothingShown;
  /** Positions at which rows were loaded, unless the list is live. */
  readonly #places = new Map<string, number>();
  /** Ids of rows that changed since they were fetched. */
  readonly #changed = new Set<string>();
  #headChanged = false;
  /** The newest page, held back while the user is not at the top. */
  #held: Page<R> | undefined;
  #atTop = true;
  #asleep = true;
  #visible: [first: number, last: number] = [0, 0];
  #isUpdating = false;
  #updatedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Incremented when the list restarts: pages requested before do not continue it. */
  #generation = 0;

  constructor(read: Read<R>, kind: ListKind = "live") {
    this.#read = read;
    this.kind = kind;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  shown = (): Shown<R> => this.#shown;

  /** Loads the next page, unless one is loading, loading failed, all pages are loaded, or only the user asks for more. */
  async more(by?: "user"): Promise<void> {
    const { nextCursor, busy, failure } = this.#shown;
    if (busy || failure || nextCursor === null) return;
    if (this.kind === "searched" && nextCursor !== "" && by !== "user") return;
    this.#show({ busy: true });
    const generation = this.#generation;
    const query = { limit: pageLimit, ...(nextCursor && { cursor: nextCursor }) };
    const page = await this.#read(query).catch((error: Error) => error);
    if (generation !== this.#generation) return;
    if (page instanceof Error) return this.#show({ busy: false, failure: page });
    const items = this.#furtherRows(page.items);
    this.#show({ busy: false, ...withPage(this.#shown, { ...page, items }) });
    if (this.#headChanged) this.#scheduleUpdate();
  }

  retry(): void {
    this.#show({ failure: null });
    void this.more("user");
  }

  /** Loads the list again from its start. */
  restart(): void {
    this.#generation++;
    this.#changed.clear();
    this.#places.clear();
    this.#show(nothingShown);
    void this.more();
  }

  /** Stops updates, while the list is paused or hidden. */
  sleep(): void {
    this.#asleep = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  wake(): void {
    this.#asleep = false;
    this.onEvent({ type: "refresh", agentId: null });
  }

  onEvent(event: ServiceEvent): void {
    if (this.#asleep || event.type === "ingestion" || event.type === "launch") return;
    const isLive = this.kind === "live";
    if (this.#shown.nextCursor === "") {
      // The first page is loading and may miss the change.
      this.#headChanged = isLive;
      return;
    }
    if (event.type === "refresh") {
      this.#headChanged = isLive;
      for (const { id, run } of this.#shown.rows) {
        if (run?.state === "pending" || run?.state === "running") this.#changed.add(id);
      }
    } else if (event.type === "trace" && event.change === "deleted") {
      this.remove([event.traceId]);
    } else if (this.indexOf(event.traceId) < 0) {
      // The trace may match the filters now.
      this.#headChanged = isLive;
    } else this.#changed.add(event.traceId);
    this.#scheduleUpdate();
  }

  /** Removes rows that were deleted, also while updates are paused. */
  remove(ids: readonly string[]): void {
    const gone = new Set(ids);
    for (const id of gone) this.#changed.delete(id);
    const left = (rows: readonly R[]) => rows.filter(({ id }) => !gone.has(id));
    if (this.#held) this.#held = { ...this.#held, items: left(this.#held.items) };
    if (ids.some(id => this.indexOf(id) >= 0)) this.#show({ rows: left(this.#shown.rows) });
  }

  /** Sets the visible rows, by position. */
  setVisible(first: number, last: number): void {
    this.#visible = [first, last];
    if (this.#changed.size > 0) this.#scheduleUpdate();
  }

  /** At the top, new rows are shown automatically. */
  setAtTop(atTop: boolean): void {
    this.#atTop = atTop;
    if (!atTop || !this.#held) return;
    const held = this.#held;
    this.#held = undefined;
    this.#join(held);
  }

  /** The row's position, or -1. */
  indexOf(id: string): number {
    const at = this.positionFor(id);
    return this.#shown.rows[at]?.id === id ? at : -1;
  }

  /** The row's position, or where it would be inserted. */
  positionFor(id: string): number {
    const { rows } = this.#shown;
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isBefore(rows[middle]!.id, id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(one: string, other: string): boolean {
    if (this.kind === "live") return one > other;
    return this.#placeOf(one) < this.#placeOf(other);
  }

  #placeOf(id: string): number {
    return this.#places.get(id) ?? Number.POSITIVE_INFINITY;
  }

  /** Those of the next page that the list does not have yet: a trace may have changed its place between two pages. */
  #furtherRows(items: R[]): R[] {
    if (this.kind === "live") {
      const lowest = this.#shown.rows.at(-1)?.id;
      return items.filter(({ id }) => lowest === undefined || id < lowest);
    }
    const further = items.filter(({ id }) => !this.#places.has(id));
    for (const { id } of further) this.#places.set(id, this.#places.size);
    return further;
  }

  #show(change: Partial<Shown<R>>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const listener of this.#listeners) listener();
  }

  #scheduleUpdate(): void {
    if (this.#asleep || this.#isUpdating || this.#timer !== undefined) return;
    const wait = Math.max(firstDelayMs, this.#updatedAt + intervalMs - performance.now());
    this.#timer = setTimeout(() => void this.#update(), wait);
  }

  async #update(): Promise<void> {
    this.#timer = undefined;
    const { rows } = this.#shown;
    const headLowest = rows[Math.min(headLimit, rows.length) - 1]?.id ?? "";
    const head =
      this.kind === "live" && (this.#headChanged || [...this.#changed].some(id => id >= headLowest));
    const [first, last] = this.#visible;
    const visibleChanged = rows
      .slice(Math.max(first, head ? headLimit : 0), last + 1)
      .filter(({ id }) => this.#changed.has(id))
      .slice(0, refetchedRowsMax);
    if (!head && visibleChanged.length === 0) return;
    this.#isUpdating = true;
    this.#headChanged = false;
    const headChanged = head ? [...this.#changed].filter(id => id >= headLowest) : [];
    for (const id of [...headChanged, ...visibleChanged.map(({ id }) => id)]) this.#changed.delete(id);
    // Failures are ignored: if the server is down, so is the event stream, which sends `refresh` when it is back.
    await Promise.allSettled([
      head && this.#readHead(headChanged),
      ...visibleChanged.map(row => this.#readRow(row)),
    ]);
    this.#isUpdating = false;
    this.#updatedAt = performance.now();
    if (this.#headChanged || this.#changed.size > 0) this.#scheduleUpdate();
  }

  async #readHead(changed: string[]): Promise<void> {
    const head = await this.#read({ limit: String(headLimit) });
    // Newer rows may have pushed these out of the first page.
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
    } else if (nextCursor === null) this.remove([id]);
  }

  /** Whether there is no gap between the newest page and the loaded rows. */
  #continues({ items, nextCursor }: Page<R>): boolean {
    const newest = this.#shown.rows[0]?.id;
    return nextCursor === null || newest === undefined || newest >= (items.at(-1)?.id ?? newest);
  }

  /** Replaces the rows that the newest page covers. If there is a gap, the list restarts with this page. */
  #join(head: Page<R>): void {
    const { rows, nextCursor } = this.#shown;
    const fresh = { count: 0, atLeast: false };
    if (!this.#continues(head)) {
      this.#generation++;
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
}

/** The newest page covers all ids down to this one; undefined if the server's time ran out before a match. */
function lowestOf({ items, nextCursor }: Page<{ id: string }>): string | undefined {
  return nextCursor === null ? "" : items.at(-1)?.id;
}
