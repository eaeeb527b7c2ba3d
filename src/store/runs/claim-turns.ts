// Whose turn it was last in the claims of one worker, so that the others come first in its next one.
import type pg from "pg";
import type { Database } from "../db.ts";
import type { ClaimedRun } from "./claims.ts";

type Place = Pick<Database, "pool">;

/** How many are remembered: who had no turn for longer comes first anyway. */
const rememberedMax = 256;
const beforeAll = "00000000-0000-0000-0000-000000000000";

export class ClaimTurns {
  /** In the order of their last turns. */
  accounts: string[] = [];
  agents: string[] = [];
  #places: pg.Pool[] = [];
  readonly #agentsAfter = new WeakMap<pg.Pool, string>();

  /** The agent after which a claim at this place looks for others. */
  agentsAfter({ pool }: Place): string {
    return this.#agentsAfter.get(pool) ?? beforeAll;
  }

  /** Those that had no turn for longest first. */
  inOrder<P extends Place>(places: P[]): P[] {
    return places.toSorted((one, other) => this.#places.indexOf(one.pool) - this.#places.indexOf(other.pool));
  }

  note(place: Place, runs: Pick<ClaimedRun, "accountId" | "agentId">[]): void {
    this.#places = movedToEnd(this.#places, [place.pool]);
    if (runs.length === 0) return;
    const agents = runs.map(({ agentId }) => agentId);
    this.accounts = movedToEnd(
      this.accounts,
      runs.map(({ accountId }) => accountId),
    );
    this.agents = movedToEnd(this.agents, agents);
    const after = this.agentsAfter(place);
    const startedOver = agents.filter(id => id <= after);
    const last = (startedOver.length > 0 ? startedOver : agents).reduce((a, b) => (b > a ? b : a));
    this.#agentsAfter.set(place.pool, last);
  }
}

function movedToEnd<T>(known: T[], items: T[]): T[] {
  const latest = new Set(items);
  return [...known.filter(item => !latest.has(item)), ...latest].slice(-rememberedMax);
}
