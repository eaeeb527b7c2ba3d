// Limits requests with an unknown API key or access token by IP address, for all nodes together. Valid ones are never
// limited: a key is looked up before this is asked.
import { Refusal } from "../../model/refusal.ts";
import { gatherAttempts } from "../../store/accounts/attempts.ts";
import { networksOf } from "./client-ip.ts";
import type { Deps } from "./deps.ts";

/** Generous: a wrong key in many exporters behind one address should be answered 401, which says what is wrong. */
export const wrongKeysMax = 10_000;
export const wrongKeysWindowSeconds = 300;

/** Counts a request that was refused with `unauthorized`, and returns the refusal to answer it with. */
export type LimitWrongKeys = (ip: string, unauthorized: Refusal) => Promise<Refusal>;

export function limitWrongKeys({
  db,
  limitAccounts = true,
}: Pick<Deps, "db" | "limitAccounts">): LimitWrongKeys {
  const count = gatherAttempts(db, { kind: "wrong keys", windowSeconds: wrongKeysWindowSeconds });
  return async (ip, unauthorized) => {
    if (!limitAccounts) return unauthorized;
    const counts = networksOf(ip).map(async ({ network, times }) => {
      const { count: sent, endsInSeconds } = await count(network);
      return sent > wrongKeysMax * times ? endsInSeconds : 0;
    });
    // The answer is the same if the count fails, such as while the database is unavailable.
    const endsInSeconds = Math.max(...(await Promise.all(counts).catch(() => [0])));
    if (endsInSeconds === 0) return unauthorized;
    return new Refusal("RATE_LIMITED", {
      message: `${unauthorized.message} Too many such requests from your IP address.`,
      hint: `${unauthorized.hint ?? "Use a valid key."} Invalid keys are answered again in ${endsInSeconds} s.`,
      retryAfterSeconds: endsInSeconds,
    });
  };
}
