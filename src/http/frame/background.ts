// Background work that outlives its request, such as sending an email: failures are logged, and shutdown waits for it.
import type { FastifyBaseLogger } from "fastify";

export type Background = {
  /** Starts the work; `failure` is the log message if it fails. */
  start(work: () => Promise<void>, failure: string): void;
  /** Resolves when all work has finished. */
  settled(): Promise<void>;
};

export function openBackground(log: FastifyBaseLogger): Background {
  const running = new Set<Promise<void>>();
  return {
    start(work, failure) {
      const done = work()
        .catch((error: unknown) => log.error({ err: error }, failure))
        .finally(() => running.delete(done));
      running.add(done);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
