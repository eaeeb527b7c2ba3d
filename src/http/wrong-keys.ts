// Limits requests with an unknown API key or access token by IP address, for all nodes together. Valid ones are never
// limited: a key is looked up before this is asked.
import { Refusal } from "../model/refusal.ts";
import { countAttempts } from "../store/accounts/attempts.ts";
import { gather } from "../store/ingestion/gather.ts";
import { type Client, networkOf } from "./client-ip.ts";
import type { Deps } from "./deps.ts";

/** Generous: a wrong key in many exporters behind one address should be answered 401, which says what is wrong. */
export const wrongKeysMax = 10_000;
export const wrongKeysWindowSeconds = 300;

/** Counts a request that was refused with `unauthorized`, and returns the refusal to answer it with. */
export type LimitWrongKeys = (client: Client, unauthorized: Refusal) => Promise<Refusal>;

export function limitWrongKeys({
  db,
  limitAccounts = true,
}: Pick<Deps, "db" | "limitAccounts">): LimitWrongKeys {
  let requests = 0;
  /** One query at a time, for all that arrived during the last one: a flood must not occupy the database. */
  const count = gather(
    async tickets => {
      const byNetwork = [...Map.groupBy(tickets, ticket => ticket.split(" ", 1)[0]!)];
      const counts = await countAttempts(
        db,
        byNetwork.map(([network, { length: times }]) => ({
          kind: "wrong keys",
          subject: [network],
          windowSeconds: wrongKeysWindowSeconds,
          times,
        })),
      );
      return new Map(
        byNetwork.flatMap(([, given], at) => {
          const { count, endsInSeconds } = counts[at]!;
          const first = count - given.length + 1;
          return given.map((ticket, index) => [ticket, { count: first + index, endsInSeconds }] as const);
        }),
      );
    },
    { roundsMax: 1 },
  );
  return async ({ ip, shared }, unauthorized) => {
    if (!limitAccounts || shared) return unauthorized;
    // The answer is the same if the count fails, such as while the database is unavailable.
    const counted = await count(`${networkOf(ip)} ${requests++}`).catch(() => undefined);
    if (counted === undefined || counted.count <= wrongKeysMax) return unauthorized;
    const { endsInSeconds } = counted;
    return new Refusal("RATE_LIMITED", {
      message: `${unauthorized.message} Too many such requests from your IP address.`,
      hint: `${unauthorized.hint ?? "Use a valid key."} Invalid keys are answered again in ${endsInSeconds} s.`,
      retryAfterSeconds: endsInSeconds,
    });
  };
}
