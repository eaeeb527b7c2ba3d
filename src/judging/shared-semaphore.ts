// Thread side of the process-wide limit on concurrent calls per judge.
import type { PlaceAsk } from "../model/judge/place.ts";
import type { Slots } from "../remote/judge/semaphore.ts";

export type Places = {
  /** `line` names the judge alike in every thread. */
  slotsOf(line: string, count: number): Slots;
  /** Tells whoever waits that the place with this id was given. */
  entered(id: number): void;
};

export function openPlaces(tell: (ask: PlaceAsk) => void): Places {
  const waiting = new Map<number, () => void>();
  let lastId = 0;
  return {
    slotsOf(line, count) {
      let queued = 0;
      return {
        get queued() {
          return queued;
        },
        async take(asker) {
          if (asker?.aborted) return undefined;
          const id = ++lastId;
          const turn = Promise.withResolvers<boolean>();
          const gone = () => turn.resolve(false);
          waiting.set(id, () => turn.resolve(true));
          asker?.addEventListener("abort", gone, { once: true });
          queued += 1;
          tell({ type: "enter", id, line, count });
          const had = await turn.promise;
          queued -= 1;
          waiting.delete(id);
          asker?.removeEventListener("abort", gone);
          const leave = () => tell({ type: "leave", id });
          if (had) return leave;
          leave();
          return undefined;
        },
      };
    },
    entered: id => waiting.get(id)?.(),
  };
}
