// Records when each key was last used: collected in memory, written once a second, off the path of requests.
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
    // If this fails, the key's next use is written.
    if (ids.length > 0) await touchKeys(this.#db, ids).catch(() => {});
  }
}
