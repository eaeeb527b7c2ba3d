// Queue with round robin between owners: FIFO for each owner, and owners take turns however much one of them has queued.

export class FairQueue<T> {
  readonly #queues = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Appends to the owner's items, or with `front` puts them before those that are queued. */
  add(owner: string, items: T[], front = false): void {
    if (items.length === 0) return;
    const queued = this.#queues.get(owner) ?? [];
    this.#queues.set(owner, front ? [...items, ...queued] : queued);
    if (!front) queued.push(...items);
  }

  /**
   * The next owner's turn. `take` is given the queued items, removes those it serves, at least one, and returns its
   * result; the owner then is the last in turn. Undefined if nothing is queued.
   */
  turn<R>(take: (items: T[], owner: string) => R): R | undefined {
    for (const [owner, items] of this.#queues) {
      this.#queues.delete(owner);
      const result = take(items, owner);
      if (items.length > 0) this.#queues.set(owner, items);
      return result;
    }
    return undefined;
  }

  /** Removes and returns the owner's items that match. */
  remove(owner: string, matches: (item: T) => boolean): T[] {
    const { removed = [], left = [] } = Object.groupBy(this.#queues.get(owner) ?? [], item =>
      matches(item) ? "removed" : "left",
    );
    if (left.length > 0) this.#queues.set(owner, left);
    else this.#queues.delete(owner);
    return removed;
  }

  /** Removes and returns all items. */
  clear(): T[] {
    const items = [...this.#queues.values()].flat();
    this.#queues.clear();
    return items;
  }
}
