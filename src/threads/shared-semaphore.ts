// Process-wide semaphores: the main thread owns them, and other threads acquire permits by message. With a permit, a thread
// learns of a pause that another one was asked for.
import type { JudgeReason } from "../model/judge/reason.ts";
import type { Owners } from "./fair-queue.ts";
import type { Release } from "./fair-semaphore.ts";
import { Semaphore } from "./semaphore.ts";

/** A judge asked not to be called before `until`, in ms since 1970. */
export type Pause = { until: number; because: JudgeReason | null };

/**
 * From a thread: acquire one of the `count` permits of the semaphore `name`; release it, or stop waiting for it; pause those who
 * acquire one later.
 */
export type PermitRequest =
  | { type: "acquire"; id: number; name: string; count: number; owners: Owners | undefined }
  | { type: "release"; id: number }
  | { type: "pause"; name: string; pause: Pause };

/** `pause`: the latest one, which may be over. */
export type PermitGrant = { type: "granted"; id: number; pause?: Pause | undefined };

type Thread = { postMessage(message: PermitGrant): void };

/** Main-thread side. Accounts, and the agents of each, take turns across all threads. */
export class SharedSemaphores {
  readonly #semaphores = new Map<string, Semaphore>();
  readonly #requests = new Map<Thread, Map<number, AbortController>>();
  readonly #pauses = new Map<string, Pause>();

  async receive(thread: Thread, request: PermitRequest): Promise<void> {
    if (request.type === "pause") return this.#pause(request.name, request.pause);
    const requests = this.#requests.get(thread) ?? new Map<number, AbortController>();
    this.#requests.set(thread, requests);
    const { id } = request;
    if (request.type === "release") {
      requests.get(id)?.abort();
      requests.delete(id);
      return;
    }
    const { name, count, owners } = request;
    const semaphore = this.#semaphores.get(name) ?? new Semaphore(count);
    this.#semaphores.set(name, semaphore);
    const released = new AbortController();
    requests.set(id, released);
    const release = await semaphore.acquire({ signal: released.signal, ...(owners && { owners }) });
    if (!release) return;
    const end = () => {
      release();
      if (semaphore.idle && this.#semaphores.get(name) === semaphore) this.#semaphores.delete(name);
    };
    if (released.signal.aborted) return end();
    released.signal.addEventListener("abort", end);
    thread.postMessage({ type: "granted", id, pause: this.#pauses.get(name) });
  }

  #pause(name: string, pause: Pause): void {
    for (const [other, { until }] of this.#pauses) if (until <= Date.now()) this.#pauses.delete(other);
    if (pause.until > (this.#pauses.get(name)?.until ?? 0)) this.#pauses.set(name, pause);
  }

  /** Releases all permits and requests of a thread that ended. */
  forget(thread: Thread): void {
    for (const request of this.#requests.get(thread)?.values() ?? []) request.abort();
    this.#requests.delete(thread);
  }
}

/** A semaphore on any thread. One of several threads has what they share beyond permits. */
export type SemaphoreLike = Pick<Semaphore, "queued" | "acquire"> & {
  /** The latest pause that came with a permit. */
  readonly pause?: Pause | undefined;
  /** Call it before the permit is released. */
  sharePause?(pause: Pause): void;
};

/** Side of the other threads. `send` must reach `receive` on the main thread; pass its grants to `granted`. */
export function shareSemaphores(send: (request: PermitRequest) => void) {
  const waiting = new Map<number, (pause: Pause | undefined) => void>();
  let lastId = 0;
  return {
    granted: (id: number, pause?: Pause) => waiting.get(id)?.(pause),
    semaphore(name: string, count: number): SemaphoreLike {
      let queued = 0;
      let latest: Pause | undefined;
      return {
        get queued() {
          return queued;
        },
        get pause() {
          return latest;
        },
        sharePause: pause => send({ type: "pause", name, pause }),
        async acquire({ signal, owners } = {}) {
          if (signal?.aborted) return undefined;
          const id = ++lastId;
          const { promise, resolve } = Promise.withResolvers<boolean>();
          const giveUp = () => resolve(false);
          waiting.set(id, pause => {
            latest = pause;
            resolve(true);
          });
          signal?.addEventListener("abort", giveUp, { once: true });
          queued += 1;
          send({ type: "acquire", id, name, count, owners });
          const granted = await promise;
          queued -= 1;
          waiting.delete(id);
          signal?.removeEventListener("abort", giveUp);
          const release: Release = () => send({ type: "release", id });
          if (granted) return release;
          release();
          return undefined;
        },
      };
    },
  };
}
