// Queue with round robin between accounts, and between the agents or keys of each: FIFO for each of them, however much
// others have queued.

/** An account and one of its agents or keys: an account with fifty has as many turns as one with a single one. */
export type Owners = readonly [accountId: string, agentOrKeyId: string];

/** Of work that no account asked for. */
export const nobody: Owners = ["", ""];

export class FairQueue<T> {
  readonly #accounts = new Map<string, Map<string, T[]>>();

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  /** Appends to the agent's items, or with `front` puts them before the queued ones. */
  add([accountId, agentId]: Owners, items: T[], front = false): void {
    if (items.length === 0) return;
    const agents = this.#accounts.get(accountId) ?? new Map<string, T[]>();
    this.#accounts.set(accountId, agents);
    const queued = agents.get(agentId) ?? [];
    agents.set(agentId, front ? [...items, ...queued] : queued);
    if (!front) queued.push(...items);
  }

  /**
   * The next turn. `take` is given the queued items of an agent, removes those it serves, at least one, and returns its
   * result; the agent and its account then are the last in turn. Undefined if nothing is queued.
   */
  turn<R>(take: (items: T[]) => R): R | undefined {
    for (const [accountId, agents] of this.#accounts) {
      this.#accounts.delete(accountId);
      for (const [agentId, items] of agents) {
        agents.delete(agentId);
        const result = take(items);
        if (items.length > 0) agents.set(agentId, items);
        if (agents.size > 0) this.#accounts.set(accountId, agents);
        return result;
      }
    }
    return undefined;
  }

  /** Removes and returns the agent's items that match. */
  remove([accountId, agentId]: Owners, matches: (item: T) => boolean): T[] {
    const agents = this.#accounts.get(accountId);
    const { removed = [], left = [] } = Object.groupBy(agents?.get(agentId) ?? [], item =>
      matches(item) ? "removed" : "left",
    );
    if (left.length > 0) agents!.set(agentId, left);
    else agents?.delete(agentId);
    if (agents?.size === 0) this.#accounts.delete(accountId);
    return removed;
  }

  /** Removes and returns all items. */
  clear(): T[] {
    const items = [...this.#accounts.values()].flatMap(agents => [...agents.values()].flat());
    this.#accounts.clear();
    return items;
  }
}
