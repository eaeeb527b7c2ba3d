// Finds the judge of an agent, at most once a second unless it changes, and keeps one client per judge.
import type { Logger } from "pino";
import type { JudgeConnection, JudgeMode, TokenCount } from "../model/judge/call.ts";
import { type Clock, systemClock } from "../remote/clock.ts";
import { judgeFetch } from "../remote/judge/call.ts";
import { type JudgeClient, openJudgeClient } from "../remote/judge/client.ts";
import type { Outbound } from "../remote/outbound.ts";
import type { Database } from "../store/db.ts";
import {
  type AgentJudge,
  type FoundJudge,
  findAgentJudge,
  findJudgeVersion,
} from "../store/judge/agent-judge.ts";
import { saveLowCount, saveMode } from "../store/judge/states.ts";
import type { Vault } from "../store/secrets/vault.ts";
import type { SemaphoreLike } from "../threads/shared-semaphore.ts";

/**
 * `name` identifies the judge among all threads. `userSupplied`: a user entered the URL, so only public and allowed
 * addresses are called.
 */
export type OpenClient = (
  connection: JudgeConnection,
  options: {
    name: string;
    userSupplied: boolean;
    mode: JudgeMode | null;
    systemRole: boolean;
    temperature: boolean;
    onMode: (mode: JudgeMode, systemRole: boolean, temperature: boolean) => void;
    onLowCount: (count: TokenCount) => void;
  },
) => JudgeClient;

/** Opens clients for one thread. `threads`: how many share the tokens per minute. */
export function clientOpener(deps: {
  outbound: Pick<Outbound, "fetch">;
  log: Pick<Logger, "info" | "warn">;
  semaphore: (name: string, concurrency: number) => SemaphoreLike;
  threads?: number;
  clock?: Clock;
}): OpenClient {
  const { outbound, log, semaphore, threads = 1, clock = systemClock } = deps;
  return (connection, { name, userSupplied, ...known }) => {
    const { concurrency, tokensPerMinute, timeoutMs } = connection;
    const share = { ...connection, tokensPerMinute: tokensPerMinute && Math.ceil(tokensPerMinute / threads) };
    return openJudgeClient(share, {
      ...{ ...known, log, semaphore: semaphore(name, concurrency), clock },
      shared: !userSupplied,
      ...(userSupplied ? { fetch: judgeFetch(outbound, timeoutMs) } : {}),
    });
  };
}

export type ConnectionDeps = {
  db: Database;
  vault: Vault;
  /** The judge of projects without their own; null: none. */
  environment: JudgeConnection | null;
  /** For one call of a project's own judge. */
  timeoutMs: number;
  /** Tokens of the environment's judge for an account and day; null or absent: no limit. */
  accountTokensMax?: number | null;
  openClient: OpenClient;
  clock: Pick<Clock, "now">;
};

const cachedMs = 1_000;
const agentsMax = 1_000;
/** Each client keeps its limits and the output mode it found; the least recently used client is dropped. */
const clientsMax = 200;

export class Connections {
  readonly #deps: ConnectionDeps;
  readonly #found = new Map<string, { judge: Promise<AgentJudge | undefined>; until: number }>();
  readonly #clients = new Map<string, JudgeClient>();

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  get accountTokensMax(): number | null {
    return this.#deps.accountTokensMax ?? null;
  }

  async find(agentId: string): Promise<AgentJudge | undefined> {
    const { db, clock } = this.#deps;
    const known = this.#found.get(agentId);
    if (known && clock.now() < known.until) {
      const found = await known.judge;
      if (found && !(await this.isReplaced(agentId, found))) return found;
    }
    const judge = findAgentJudge(db, { ...this.#deps, agentId });
    const fresh = { judge, until: clock.now() + cachedMs };
    put(this.#found, agentId, fresh, agentsMax);
    const forget = () => {
      if (this.#found.get(agentId) === fresh) this.#found.delete(agentId);
    };
    // A pause ends when somebody edits or tests the connection, so a paused judge is not cached.
    judge.then(known => {
      if (known?.judge?.state?.pausedReason) forget();
    }, forget);
    return judge;
  }

  /** Whether another connection was saved since: a new model must judge from the next call on. */
  async isReplaced(agentId: string, { judge }: Pick<AgentJudge, "judge">): Promise<boolean> {
    if (judge?.tried) return false;
    return (await findJudgeVersion(this.#deps.db, agentId)) !== (judge?.version ?? null);
  }

  clientOf({ connection, fingerprint, own, state }: FoundJudge, projectId: string): JudgeClient {
    const { concurrency, tokensPerMinute, timeoutMs } = connection;
    const name = JSON.stringify([
      own ? projectId : null,
      fingerprint.toString("hex"),
      concurrency,
      tokensPerMinute,
      timeoutMs,
      // After a successful test, a new client starts without the earlier failures and waits.
      state?.testedAt ?? null,
    ]);
    const client =
      this.#clients.get(name) ??
      this.#deps.openClient(connection, {
        name,
        userSupplied: own,
        mode: state?.mode ?? null,
        systemRole: state?.systemRole ?? true,
        temperature: state?.temperature ?? true,
        onMode: (...format) => void saveMode(this.#deps.db, fingerprint, ...format).catch(() => {}),
        onLowCount: count => void saveLowCount(this.#deps.db, fingerprint, count).catch(() => {}),
      });
    put(this.#clients, name, client, clientsMax);
    return client;
  }

  /** Clears the cache, so that connections are looked up again. */
  forget(): void {
    this.#found.clear();
  }
}

/** Moves the key to the end of the map, and drops the first one if there are too many. */
function put<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > max && !oldest.done) map.delete(oldest.value);
}
