// Limits requests with an unknown API key or access token by IP address, for all nodes together. Valid ones are never
// limited: a key is looked up before this is asked.
import { Refusal } from "../model/refusal.ts";
import { countAttempts } from "../store/accounts/attempts.ts";
import { gather } from "../store/ingestion/gather.ts";
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
  let requests = 0;
  /** One query at a time, for all that arrived during the last one: a flood must not occupy the database. */
  const count = gather(
    async tickets => {
      const counted = tickets.flatMap(ticket =>
        networksOf(ticket.split(" ", 1)[0]!).map(network => ({ ticket, ...network })),
      );
      const byNetwork = [...Map.groupBy(counted, ({ network }) => network)];
      const counts = await countAttempts(
        db,
        byNetwork.map(([network, { length: times }]) => ({
          kind: "wrong keys",
          subject: [network],
          windowSeconds: wrongKeysWindowSeconds,
          times,
        })),
      );
      const left = new Map<string, { left: number; endsInSeconds: number }>();
      for (const [at, [, given]] of byNetwork.entries()) {
        const { count, endsInSeconds } = counts[at]!;
        for (const [index, { ticket, times }] of given.entries()) {
          const here = wrongKeysMax * times - (count - given.length + 1 + index);
          if (here < (left.get(ticket)?.left ?? Infinity)) left.set(ticket, { left: here, endsInSeconds });
        }
      }
      return left;
    },
    { roundsMax: 1 },
  );
  return async (ip, unauthorized) => {
    if (!limitAccounts) return unauthorized;
    // The answer is the same if the count fails, such as while the database is unavailable.
    const counted = await count(`${ip} ${requests++}`).catch(() => undefined);
    if (counted === undefined || counted.left >= 0) return unauthorized;
    const { endsInSeconds } = counted;
    return new Refusal("RATE_LIMITED", {
      message: `${unauthorized.message} Too many such requests from your IP address.`,
      hint: `${unauthorized.hint ?? "Use a valid key."} Invalid keys are answered again in ${endsInSeconds} s.`,
      retryAfterSeconds: endsInSeconds,
    });
  };
}
