// What a thread that evaluates runs holds, where another thread can read it while this one hangs.

/** More than a worker holds at a time. */
const slotsMax = 512;
const free = 0;
const waiting = 1;
const begun = 2;
const givenBack = 3;

/** Runs that were claimed, and where each is in the states. */
export type Claimed = { lease: string; slots: [slot: number, runId: string][] };

/** One state for each run that is held. */
export function openStates(): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(slotsMax));
}

/** In the thread that holds the runs. */
export class HeldRuns {
  readonly #states: Uint8Array;
  readonly #tell: (claimed: Claimed) => void;
  readonly #slots = new Map<string, number>();

  /** `tell` is called for each claim: a message that is sent arrives even if the sender hangs. */
  constructor(states: Uint8Array, tell: (claimed: Claimed) => void) {
    this.#states = states;
    this.#tell = tell;
  }

  claim(lease: string, runIds: string[]): void {
    const slots: Claimed["slots"] = [];
    let slot = 0;
    for (const id of runIds) {
      while (slot < slotsMax && this.#states[slot] !== free) slot++;
      if (slot === slotsMax) break;
      slots.push([slot, id]);
      this.#slots.set(id, slot++);
    }
    this.#tell({ lease, slots });
    for (const [taken] of slots) this.#states[taken] = waiting;
  }

  begin(runId: string): void {
    this.#set(runId, begun);
  }

  end(runId: string): void {
    this.#set(runId, free);
    this.#slots.delete(runId);
  }

  #set(runId: string, state: number): void {
    const slot = this.#slots.get(runId);
    if (slot !== undefined) this.#states[slot] = state;
  }
}

/** In another thread. */
export class HeldElsewhere {
  readonly states = openStates();
  readonly #runs = new Map<number, string>();
  #lease: string | undefined;

  claimed({ lease, slots }: Claimed): void {
    this.#lease = lease;
    for (const [slot, id] of slots) this.#runs.set(slot, id);
  }

  /** The runs that were claimed and have not begun, each of them once. */
  takeUnbegun(): { lease: string; runIds: string[] } | undefined {
    const taken = [...this.#runs].filter(
      ([slot]) => Atomics.compareExchange(this.states, slot, waiting, givenBack) === waiting,
    );
    if (this.#lease === undefined || taken.length === 0) return undefined;
    return { lease: this.#lease, runIds: taken.map(([, id]) => id) };
  }
}
