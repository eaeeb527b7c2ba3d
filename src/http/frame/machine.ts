// What the HTTP processes of one machine share: places for costly work, links to show, and the metrics of all.
import { type NamedPermits, OwnPermits } from "../../threads/named-permits.ts";

export type Machine = {
  /** HTTP processes on this machine, this one included. Limits per process are divided by it. */
  readonly processes: number;
  readonly permits: NamedPermits;
  /** Concurrent requests to `/api` in this process, if it has fewer connections to the database than usual. */
  readonly apiRequestsMax?: number;
  readonly links: KeptLinks;
  /** The metrics of all processes as text; undefined: there is only this process. */
  readonly metrics?: () => Promise<string>;
  /** As this process knows it, without asking another; undefined: there is only this process. */
  readonly health?: () => MachineHealth;
};

/** `serving`: how many of the HTTP `processes` serve. `isLed`: whether the process that leads them was heard of lately. */
export type MachineHealth = { processes: number; serving: number; isLed: boolean };

/** The latest link of each account, in memory. */
export type KeptLinks = {
  keep(accountId: string, link: string): Promise<void>;
  find(accountId: string): Promise<string | undefined>;
};

/** For a process that shares its machine with no other. */
export function onlyProcess(): Machine {
  return { processes: 1, permits: new OwnPermits(), links: new OwnLinks() };
}

const linksMax = 1_000;
const validMs = 24 * 3_600_000;

export class OwnLinks implements KeptLinks {
  readonly #links = new Map<string, { link: string; until: number }>();

  async keep(accountId: string, link: string): Promise<void> {
    this.#links.delete(accountId);
    this.#links.set(accountId, { link, until: Date.now() + validMs });
    const [oldest] = this.#links.keys();
    if (this.#links.size > linksMax) this.#links.delete(oldest!);
  }

  async find(accountId: string): Promise<string | undefined> {
    const kept = this.#links.get(accountId);
    return kept && kept.until >= Date.now() ? kept.link : undefined;
  }
}
