// Fair semaphores by name, for everything on one machine: one process has them, and others take permits by message.
import {
  type Denied,
  FairSemaphore,
  type Permits,
  type Release,
  type TakeOptions,
} from "./fair-semaphore.ts";

export type PermitsWanted = {
  /** Of the semaphore, which is created with its first permit. */
  name: string;
  count: number;
  /** As of a fair semaphore. */
  shares: readonly number[];
  holders: readonly string[];
};

/** What takes permits of a semaphore by its name. */
export type NamedPermits = {
  take(wanted: PermitsWanted, options?: TakeOptions): Promise<Release | Denied>;
};

/** One of the semaphores. */
export function permitsNamed(
  permits: NamedPermits,
  { name, count, shares = [] }: { name: string; count: number; shares?: readonly number[] },
): Permits {
  return { take: (holders, options) => permits.take({ name, count, shares, holders }, options) };
}

/** The semaphores themselves. One without permits in use is forgotten, so that names may contain ids. */
export class OwnPermits implements NamedPermits {
  readonly #semaphores = new Map<string, { semaphore: FairSemaphore; uses: number }>();

  async take(
    { name, count, shares, holders }: PermitsWanted,
    options?: TakeOptions,
  ): Promise<Release | Denied> {
    const used = this.#semaphores.get(name) ?? { semaphore: new FairSemaphore(count, shares), uses: 0 };
    this.#semaphores.set(name, used);
    used.uses += 1;
    const leave = () => {
      used.uses -= 1;
      if (used.uses === 0) this.#semaphores.delete(name);
    };
    const taken = await used.semaphore.take(holders, options);
    if (typeof taken === "string") {
      leave();
      return taken;
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      taken();
      leave();
    };
  }
}

/** From another process: take a permit of this id, or release it. A permit that is no longer wanted is released, too. */
export type PermitMessage =
  | ({ type: "take"; id: number; timeoutMs?: number | undefined } & PermitsWanted)
  | { type: "release"; id: number };

/** The permits of one other process, on the side that has the semaphores. */
export class LentPermits {
  readonly #permits: NamedPermits;
  readonly #ends = new Map<number, AbortController>();

  constructor(permits: NamedPermits) {
    this.#permits = permits;
  }

  /** Undefined where the permit was granted, or released while it was waited for. */
  async receive(message: PermitMessage): Promise<Denied | undefined> {
    const { type, id } = message;
    if (type === "release") {
      this.#ends.get(id)?.abort();
      this.#ends.delete(id);
      return undefined;
    }
    const end = new AbortController();
    this.#ends.set(id, end);
    const { timeoutMs } = message;
    const options = { signal: end.signal, ...(timeoutMs !== undefined && { timeoutMs }) };
    const taken = await this.#permits.take(message, options);
    if (typeof taken === "string") {
      this.#ends.delete(id);
      return taken;
    }
    if (end.signal.aborted) taken();
    else end.signal.addEventListener("abort", taken);
    return undefined;
  }

  /** Releases everything: the process has ended. */
  releaseAll(): void {
    for (const end of this.#ends.values()) end.abort();
    this.#ends.clear();
  }
}

/** The side of the other process. `ask` passes the message to `receive`. */
export function borrowPermits(ask: (message: PermitMessage) => Promise<Denied | undefined>): NamedPermits {
  let lastId = 0;
  return {
    async take(wanted, { signal, timeoutMs } = {}) {
      if (signal?.aborted) return "full";
      const id = ++lastId;
      // The process that does not answer has ended, and this one ends with it.
      const release: Release = () => void ask({ type: "release", id }).catch(() => {});
      signal?.addEventListener("abort", release, { once: true });
      try {
        const denied = await ask({ type: "take", id, timeoutMs, ...wanted });
        if (signal?.aborted) release();
        return signal?.aborted ? "full" : (denied ?? release);
      } finally {
        signal?.removeEventListener("abort", release);
      }
    },
  };
}
