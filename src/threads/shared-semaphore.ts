// Process-wide semaphores: the main thread owns them, and other threads acquire permits by message.
import type { Release } from "./fair-semaphore.ts";
import { Semaphore } from "./semaphore.ts";

/** From a thread: acquire one of the `count` permits of the semaphore `name`; release it, or stop waiting for it. */
export type PermitRequest =
  | { type: "acquire"; id: number; name: string; count: number }
  | { type: "release"; id: number };

export type PermitGrant = { type: "granted"; id: number };

type Thread = { postMessage(message: PermitGrant): void };

/** Main-thread side. FIFO across all threads. */
export class SharedSemaphores {
  readonly #semaphores = new Map<string, Semaphore>();
  readonly #requests = new Map<Thread, Map<number, AbortController>>();

  async receive(thread: Thread, request: PermitRequest): Promise<void> {
    const requests = this.#requests.get(thread) ?? new Map<number, AbortController>();
    this.#requests.set(thread, requests);
    const { id } = request;
    if (request.type === "release") {
      requests.get(id)?.abort();
      requests.delete(id);
      return;
    }
    const { name, count } = request;
    const semaphore = this.#semaphores.get(name) ?? new Semaphore(count);
    this.#semaphores.set(name, semaphore);
    const released = new AbortController();
    requests.set(id, released);
    const release = await semaphore.acquire({ signal: released.signal });
    if (!release) return;
    const end = () => {
      release();
      if (semaphore.idle && this.#semaphores.get(name) === semaphore) this.#semaphores.delete(name);
    };
    if (released.signal.aborted) return end();
    released.signal.addEventListener("abort", end);
    thread.postMessage({ type: "granted", id });
  }

  /** Releases all permits and requests of a thread that ended. */
  forget(thread: Thread): void {
    for (const request of this.#requests.get(thread)?.values() ?? []) request.abort();
    this.#requests.delete(thread);
  }
}

/** A semaphore on any thread. */
export type SemaphoreLike = Pick<Semaphore, "queued" | "acquire">;

/** Side of the other threads. `send` must reach `receive` on the main thread; pass its grants to `granted`. */
export function shareSemaphores(send: (request: PermitRequest) => void) {
  const waiting = new Map<number, () => void>();
  let lastId = 0;
  return {
    granted: (id: number) => waiting.get(id)?.(),
    semaphore(name: string, count: number): SemaphoreLike {
      let queued = 0;
      return {
        get queued() {
          return queued;
        },
        async acquire({ signal } = {}) {
          if (signal?.aborted) return undefined;
          const id = ++lastId;
          const { promise, resolve } = Promise.withResolvers<boolean>();
          const giveUp = () => resolve(false);
          waiting.set(id, () => resolve(true));
          signal?.addEventListener("abort", giveUp, { once: true });
          queued += 1;
          send({ type: "acquire", id, name, count });
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
