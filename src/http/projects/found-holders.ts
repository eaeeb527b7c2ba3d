// Keeps what finished dry runs found beside traces: clients poll, and each search reads all tests, notes and views of a project.
import type { ErasureHolders } from "../../load/erasure-holders.ts";

/** Each at most 250 KB. Beyond them, the one that was asked for least recently is searched again. */
const keptMax = 100;

export class FoundHolders {
  readonly #found = new Map<string, Promise<ErasureHolders>>();

  /** The result of `search` for the dry run, which is called once, also for those who ask at the same time. */
  of(dryRunId: string, search: () => Promise<ErasureHolders>): Promise<ErasureHolders> {
    const found = this.#found.get(dryRunId) ?? search();
    this.#found.delete(dryRunId);
    this.#found.set(dryRunId, found);
    found.catch(() => this.#found.delete(dryRunId));
    const oldest = this.#found.keys().next();
    if (this.#found.size > keptMax) this.#found.delete(oldest.value!);
    return found;
  }
}
