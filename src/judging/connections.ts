// Who judges for an agent, looked up at most once a second, and the open lines to those who do.
import type { JudgeConnection, JudgeLine, JudgeMode } from "../model/judge/call.ts";
import type { Clock } from "../remote/clock.ts";
import type { Database } from "../store/db.ts";
import { type AgentJudging, type FoundJudge, findAgentJudging } from "../store/judge/agent-judge.ts";
import { rememberMode } from "../store/judge/states.ts";
import type { Vault } from "../store/secrets/vault.ts";

/**
 * `name`: the same for a line to the same judge, and for no other. `typed`: a user chose the address, so only public and
 * allowed places are called.
 */
export type LineOpener = (
  connection: JudgeConnection,
  options: { name: string; typed: boolean; mode: JudgeMode | null; onMode: (mode: JudgeMode) => void },
) => JudgeLine;

export type ConnectionDeps = {
  db: Database;
  vault: Vault;
  /** Of whoever runs the service; null: none. */
  environment: JudgeConnection | null;
  openLine: LineOpener;
  clock: Pick<Clock, "now">;
};

/** How an agent's judge is asked. */
export type Reach = AgentJudging & { judge: FoundJudge; line: JudgeLine };

export type Connections = {
  find(agentId: string): Promise<AgentJudging | undefined>;
  lineTo(judge: FoundJudge, projectId: string): JudgeLine;
  /** What is known is looked up anew. */
  forget(): void;
};

const keptMs = 1_000;
const agentsMax = 1_000;
/** Each holds its bounds and what it learned; the one that was used least lately is let go of. */
const linesMax = 200;

export function openConnections({ clock, openLine, ...deps }: ConnectionDeps): Connections {
  const found = new Map<string, { judging: Promise<AgentJudging | undefined>; until: number }>();
  const lines = new Map<string, JudgeLine>();
  return {
    find(agentId) {
      const known = found.get(agentId);
      if (known && clock.now() < known.until) return known.judging;
      const judging = findAgentJudging(deps.db, { ...deps, agentId });
      const fresh = { judging, until: clock.now() + keptMs };
      put(found, agentId, fresh, agentsMax);
      const forget = () => {
        if (found.get(agentId) === fresh) found.delete(agentId);
      };
      // A pause ends when somebody edits or tests the connection: who does so is not to be told of it any longer.
      judging.then(known => {
        if (known?.judge?.state?.pausedReason) forget();
      }, forget);
      return judging;
    },
    lineTo({ connection, fingerprint, own, state }, projectId) {
      const { concurrency, tokensPerMinute, timeoutMs } = connection;
      // A test that succeeded leaves what went wrong before it behind.
      const name = JSON.stringify([
        own ? projectId : null,
        fingerprint.toString("hex"),
        concurrency,
        tokensPerMinute,
        timeoutMs,
        state?.testedAt ?? null,
      ]);
      const line =
        lines.get(name) ??
        openLine(connection, {
          name,
          typed: own,
          mode: state?.mode ?? null,
          onMode: mode => void rememberMode(deps.db, fingerprint, mode).catch(() => {}),
        });
      put(lines, name, line, linesMax);
      return line;
    },
    forget: () => found.clear(),
  };
}

/** At the end of the map, whose first goes where there are too many. */
function put<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > max && !oldest.done) map.delete(oldest.value);
}
