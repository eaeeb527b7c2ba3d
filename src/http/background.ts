// Work that outlives the reply it began with, such as a mail: it is logged when it fails and awaited at the end.
import type { FastifyBaseLogger } from "fastify";

export type Background = {
  /** Begins the work; `failure` is what the log says should it fail. */
  start(work: () => Promise<void>, failure: string): void;
  /** Resolves when none is under way. */
  settled(): Promise<void>;
};

export function openBackground(log: FastifyBaseLogger): Background {
  const underWay = new Set<Promise<void>>();
  return {
    start(work, failure) {
      const done = work()
        .catch((error: unknown) => log.error({ err: error }, failure))
        .finally(() => underWay.delete(done));
      underWay.add(done);
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
