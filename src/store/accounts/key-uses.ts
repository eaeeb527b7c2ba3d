// When each key was last used: remembered in memory, written now and then, never on the path of a request.
import type { Database } from "../db.ts";
import { touchKeys } from "./keys.ts";

const writeAfterMs = 1_000;

export class KeyUses {
  readonly #db: Database;
  #used = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  record(keyId: string): void {
    this.#used.add(keyId);
    this.#timer ??= setTimeout(() => void this.#write(), writeAfterMs);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#write();
  }

  async #write(): Promise<void> {
    this.#timer = undefined;
    const ids = [...this.#used];
    this.#used = new Set();
    // A use that cannot be written is written with the key's next one.
    if (ids.length > 0) await touchKeys(this.#db, ids).catch(() => {});
  }
}
