// Main-thread side of the limit on concurrent calls per judge: first in, first out.

import type { PlaceAsk, PlaceGiven } from "../model/judge/place.ts";

/** To whom a place is given: a thread. */
export type Taker = { postMessage(message: PlaceGiven): void };

type Entry = { taker: Taker; id: number; line: string; held: boolean };

export class Places {
  readonly #entries = new Map<Taker, Map<number, Entry>>();
  readonly #lines = new Map<string, { count: number; held: number; queue: Set<Entry> }>();

  ask(taker: Taker, ask: PlaceAsk): void {
    const own = this.#entries.get(taker) ?? new Map<number, Entry>();
    this.#entries.set(taker, own);
    if (ask.type === "leave") {
      const entry = own.get(ask.id);
      if (entry) this.#leave(entry);
      return;
    }
    const { id, line: name, count } = ask;
    const line = this.#lines.get(name) ?? { count, held: 0, queue: new Set() };
    this.#lines.set(name, line);
    const entry: Entry = { taker, id, line: name, held: false };
    own.set(id, entry);
    line.queue.add(entry);
    this.#give(name);
  }

  /** The thread is gone, and with it what it held. */
  forget(taker: Taker): void {
    for (const entry of this.#entries.get(taker)?.values() ?? []) this.#leave(entry);
    this.#entries.delete(taker);
  }

  #leave(entry: Entry): void {
    this.#entries.get(entry.taker)?.delete(entry.id);
    const line = this.#lines.get(entry.line)!;
    if (entry.held) line.held -= 1;
    else line.queue.delete(entry);
    this.#give(entry.line);
  }

  #give(name: string): void {
    const line = this.#lines.get(name)!;
    for (const entry of line.queue) {
      if (line.held >= line.count) return;
      line.queue.delete(entry);
      line.held += 1;
      entry.held = true;
      entry.taker.postMessage({ type: "entered", id: entry.id });
    }
    if (line.held === 0) this.#lines.delete(name);
  }
}
