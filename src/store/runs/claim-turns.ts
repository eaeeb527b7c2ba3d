// Whose turn it is in the claims of one worker: accounts take turns, and the agents of each.

import { FairQueue } from "../../threads/fair-queue.ts";
import type { Database, Session } from "../db.ts";
import { lookMax } from "./claim-statements.ts";

type Place = Pick<Database, "pool">;
type Owned = { accountId: string; agentId: string };

/** When an agent's first run in a queue is due, whether it may be claimed, and how many may, up to `lookMax.runs`. */
export type FoundAgent = Owned & { queue: Queue; at: number; isDue: boolean; count: number };

/** How many runs of which agents. */
export type Shares = Record<Queue, Map<string, number>>;

type Queue = "waiting" | "due";
type Left = { agentId: string; count: number };

type Known = {
  lookedAt: number;
  waiting: FairQueue<Left>;
  due: FairQueue<Left>;
  /** How many they are. */
  left: number;
  /** Whether there may be others. */
  isPart: boolean;
};

/** For how long what was found is used: who has something due meanwhile waits for no longer. */
const knownMs = 100;
/** How many are remembered: who had no turn for longer comes first anyway. */
const rememberedMax = 1_024;
const beforeAll = "00000000-0000-0000-0000-000000000000";

export class ClaimTurns {
  readonly #now: () => number;
  /** In the order of their last turns. */
  #accounts: string[] = [];
  #agents: string[] = [];
  #places: Session[] = [];
  readonly #known = new WeakMap<Session, Known>();
  readonly #after = new WeakMap<Session, string>();
  readonly #withoutBacklog = new WeakSet<Session>();

  /** `now`: the ms of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Those that had no turn for longest first. */
  inOrder<P extends Place>(places: P[]): P[] {
    return places.toSorted((one, other) => this.#places.indexOf(one.pool) - this.#places.indexOf(other.pool));
  }

  /** Whether more may be due at this place than fits into a claim. */
  hasBacklog({ pool }: Place): boolean {
    return !this.#withoutBacklog.has(pool);
  }

  setBacklog({ pool }: Place, hasBacklog: boolean): void {
    if (hasBacklog) this.#withoutBacklog.delete(pool);
    else this.#withoutBacklog.add(pool);
  }

  /** The agent after which a look at this place goes on. */
  after({ pool }: Place): string {
    return this.#after.get(pool) ?? beforeAll;
  }

  /** Where the next look goes on: after `last`, or where nothing was left, with the first agent. */
  lookedTo({ pool }: Place, last = beforeAll): void {
    this.#after.set(pool, last);
  }

  /** Whether all agents were looked at, and the next look begins with the first. */
  isThrough(place: Place): boolean {
    return this.after(place) === beforeAll;
  }

  /** Whether what is known suffices for a claim of `runsMax`. */
  knows({ pool }: Place, runsMax: number): boolean {
    const known = this.#known.get(pool);
    if (!known || this.#now() - known.lookedAt >= knownMs) return false;
    return known.left >= runsMax || (!known.isPart && known.left > 0);
  }

  /** What a look found, in the order of agents. */
  found(place: Place, agents: FoundAgent[]): void {
    const began = this.after(place);
    const of = (queue: Queue) => agents.filter(agent => agent.queue === queue);
    const lasts = [of("waiting"), of("due")].flatMap(found =>
      found.length >= lookMax.agents ? found.at(-1)!.agentId : [],
    );
    this.lookedTo(place, lasts.sort()[0]);
    const isDue = (agent: FoundAgent) => agent.isDue;
    this.#known.set(place.pool, {
      lookedAt: this.#now(),
      waiting: this.#queueOf(of("waiting").filter(isDue)),
      due: this.#queueOf(of("due").filter(isDue)),
      left: agents.filter(isDue).reduce((sum, { count }) => sum + count, 0),
      isPart: began !== beforeAll || lasts.length > 0 || agents.some(({ count }) => count >= lookMax.runs),
    });
  }

  #queueOf(agents: FoundAgent[]): FairQueue<Left> {
    const queue = new FairQueue<Left>();
    const accounts = placesIn(this.#accounts);
    const ofAccounts = placesIn(this.#agents);
    const sorted = agents.toSorted(
      (one, other) =>
        accounts(one.accountId) - accounts(other.accountId) ||
        ofAccounts(one.agentId) - ofAccounts(other.agentId) ||
        one.at - other.at,
    );
    for (const { accountId, agentId, count } of sorted) queue.add([accountId, agentId], [{ agentId, count }]);
    return queue;
  }

  /** The next turns. Agents in `fullAgents` have none. */
  take({ pool }: Place, runsMax: number, waitingMax: number, fullAgents: string[]): Shares {
    const full = new Set(fullAgents);
    const known = this.#known.get(pool)!;
    const shares: Shares = { waiting: new Map(), due: new Map() };
    const takeFrom = (queue: Queue, max: number) => {
      let taken = 0;
      while (taken < max && !known[queue].isEmpty) {
        const agentId = known[queue].turn(items => {
          const [first] = items as [Left];
          const isFull = full.has(first.agentId);
          known.left -= isFull ? first.count : 1;
          first.count -= 1;
          if (isFull || first.count === 0) items.shift();
          return isFull ? undefined : first.agentId;
        });
        if (agentId === undefined) continue;
        shares[queue].set(agentId, (shares[queue].get(agentId) ?? 0) + 1);
        taken++;
      }
      return taken;
    };
    takeFrom("due", runsMax - takeFrom("waiting", Math.min(waitingMax, runsMax)));
    return shares;
  }

  /** What a claim took, and how many runs it was to take. */
  note({ pool }: Place, runs: Owned[], asked: number): void {
    this.#places = movedToEnd(this.#places, [pool]);
    this.#accounts = movedToEnd(
      this.#accounts,
      runs.map(({ accountId }) => accountId),
    );
    this.#agents = movedToEnd(
      this.#agents,
      runs.map(({ agentId }) => agentId),
    );
    // Another worker was faster.
    if (runs.length < asked) this.#known.delete(pool);
  }
}

function placesIn(ids: string[]): (id: string) => number {
  const places = new Map(ids.map((id, place) => [id, place]));
  return id => places.get(id) ?? -1;
}

function movedToEnd<T>(known: T[], items: T[]): T[] {
  const latest = new Set(items);
  return [...known.filter(item => !latest.has(item)), ...latest].slice(-rememberedMax);
}
