// How much of everything a run must reach, and how much it has.
import type { Ledger } from "./ledger.ts";
import type { Deeds, Fault } from "./nemesis.ts";

/** The faults that count towards a goal; races and acknowledgements are of the clients. */
const faultsOf = {
  kills: ["kill", "kill-at-point", "kill-in-request", "move-clock"],
  databaseKills: ["kill-database"],
  diskFull: ["fill-disk"],
  failovers: ["fail-over"],
  races: [],
  acknowledgements: [],
} as const satisfies Record<string, readonly Fault[]>;

export type Goal = keyof typeof faultsOf;
export type Goals = Partial<Record<Goal, number>>;

export const goalNames = Object.keys(faultsOf) as Goal[];

export function reached(goal: Goal, ledger: Ledger, deeds: Deeds): number {
  if (goal === "races" || goal === "acknowledgements") return ledger[goal];
  return faultsOf[goal].reduce((sum, fault) => sum + (deeds.get(fault) ?? 0), 0);
}

/** The goals that are not reached. */
export function missing(goals: Goals, ledger: Ledger, deeds: Deeds): string[] {
  return goalNames
    .filter(goal => reached(goal, ledger, deeds) < (goals[goal] ?? 0))
    .map(goal => `${goal}: ${reached(goal, ledger, deeds)} of ${goals[goal]}`);
}

/**
 * How far the faults have come, all together, and how far the clients with what they lack most. Undefined without such goals.
 */
export function progress(goals: Goals, ledger: Ledger, deeds: Deeds) {
  const done = (goal: Goal) => Math.min(goals[goal]!, reached(goal, ledger, deeds));
  const wanted = goalNames.filter(goal => goals[goal]);
  const [ofClients, ofFaults] = [true, false].map(isOfClients =>
    wanted.filter(goal => (faultsOf[goal].length === 0) === isOfClients),
  ) as [Goal[], Goal[]];
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return {
    faults:
      ofFaults.length === 0 ? undefined : sum(ofFaults.map(done)) / sum(ofFaults.map(goal => goals[goal]!)),
    clients:
      ofClients.length === 0 ? undefined : Math.min(...ofClients.map(goal => done(goal) / goals[goal]!)),
  };
}

/** How often each fault is still to happen, for its goal; those without a goal happen about as often as one with a small one. */
export function shares(faults: readonly Fault[], goals: Goals, ledger: Ledger, deeds: Deeds): number[] {
  const left = new Map<Fault, number>();
  for (const goal of goalNames) {
    const sharing = faultsOf[goal].filter(fault => faults.includes(fault));
    const count = Math.max(0, (goals[goal] ?? 0) - reached(goal, ledger, deeds));
    if (goals[goal] !== undefined) for (const fault of sharing) left.set(fault, count / sharing.length);
  }
  const sum = [...left.values()].reduce((total, count) => total + count, 0);
  // Once all are reached, every fault is as likely as any other.
  return faults.map(fault => (sum === 0 ? 1 : (left.get(fault) ?? sum / 20)));
}
