// Limits concurrent work: places of which every account and key may hold a share, so that the others still get in.
import type { FastifyReply } from "fastify";
import type { Account } from "../../model/account.ts";
import type { AdmittedKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { FairSemaphore, type Permits, type Release } from "../../threads/fair-semaphore.ts";
import { permitsNamed } from "../../threads/named-permits.ts";
import { type Machine, onlyProcess } from "./machine.ts";
import { disconnected } from "./refuse.ts";

/** Of what the others have left free, a key may hold half, and all keys of an account three quarters. */
const keyShares = [0.75, 0.5];
const accountShares = [0.5];

/** For requests with a key. */
export const placesOfKeys = (count: number) => new FairSemaphore(count, keyShares);
/** For requests with a session or access token. */
export const placesOfAccounts = (count: number) => new FairSemaphore(count, accountShares);

type Shared = { machine: Machine | undefined; name: string; count: number };

/** The same for all processes of the machine together, where a place takes much memory. `name` is theirs alone. */
export const sharedPlacesOfKeys = ({ machine = onlyProcess(), ...named }: Shared): Permits =>
  permitsNamed(machine.permits, { ...named, shares: keyShares });
export const sharedPlacesOfAccounts = ({ machine = onlyProcess(), ...named }: Shared): Permits =>
  permitsNamed(machine.permits, { ...named, shares: accountShares });

export const holdersOf = ({ accountId, id }: Pick<AdmittedKey, "accountId" | "id">) => [accountId, id];

export const holdersOfAccount = ({ id }: Pick<Account, "id">) => [id];

type Wanted = {
  holders: readonly string[];
  /** What is limited, for the message: "large requests". */
  what: string;
  /** 0: does not wait. */
  waitMs: number;
  signal?: AbortSignal;
};

/**
 * Waits for a place. Throws RATE_LIMITED if the account or key holds one already, and UNAVAILABLE if all are taken by
 * others; VALIDATION_ERROR if the client disconnects.
 */
export async function takePlace(
  places: Permits,
  { holders, what, waitMs, signal }: Wanted,
): Promise<Release> {
  const taken = await places.take(holders, { timeoutMs: waitMs, signal });
  if (typeof taken === "function") return taken;
  if (signal?.aborted) throw disconnected();
  throw taken === "share"
    ? new Refusal("RATE_LIMITED", {
        message: `Too many concurrent ${what} of this ${holders.length > 1 ? "key or account" : "account"}.`,
        hint: "Wait for some of them to end, then retry.",
      })
    : new Refusal("UNAVAILABLE", { message: `Too many ${what} right now.`, hint: "Retry in a moment." });
}

/** Releases a place once the response is sent or the client has disconnected. */
export function releaseOnClose({ raw }: FastifyReply, release: Release): void {
  raw.once("close", release);
  // The client may have disconnected meanwhile: then there is no event to come.
  if (raw.destroyed) release();
}
