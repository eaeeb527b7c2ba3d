// What a claim of runs asks for, and what it gives.
import type { ClaimTurns } from "./claim-turns.ts";
import type { QueueStarts } from "./queue-starts.ts";

export type ClaimedRun = {
  id: string;
  traceId: string;
  agentId: string;
  accountId: string;
  /** How often this run was started, including this time. */
  attempts: number;
  /** Failed attempts to ask the judge, and the time left to wait for it; `judgeLeftMs` is null before the first. */
  judgeTries: number;
  judgeLeftMs: number | null;
  /** The partial results and tests of a run that waited for the judge; null for a new run. */
  detail: Buffer | null;
  /** Whether it waited for the judge until it was claimed. */
  waited?: boolean;
};

export type Claim = {
  runs: ClaimedRun[];
  /** Runs that just ended as errors because too many workers crashed on them. */
  ended: ClaimedRun[];
};

export type Skipped = {
  inHand?: string[];
  fullAgents?: string[];
  /** Where to begin reading. By default at the first entry. */
  starts?: QueueStarts;
};

export type DueRuns = Skipped & {
  lease: string;
  leaseMs: number;
  runsMax: number;
  resumedMax?: number;
  /** How many a claim is of which this one is a part, at one place of a cluster. */
  wholeMax?: number;
  /** What the caller's earlier claims took. Default: nothing. */
  turns?: ClaimTurns;
};
