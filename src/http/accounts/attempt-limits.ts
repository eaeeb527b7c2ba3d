// Limits attempts to sign in, sign up, and change or reset passwords: by account first, and by IP address.
import { Refusal } from "../../model/refusal.ts";
import { type Attempt, countAttempt, uncountAttempt } from "../../store/accounts/attempts.ts";
import type { Database } from "../../store/db.ts";
import type { Client } from "../client-ip.ts";

type Limit = {
  /** Follows "Too many attempts". */
  where: string;
  max: number;
  windowSeconds: number;
  /** Undefined: the limit does not apply. */
  subject: (about: About) => string[] | undefined;
};

/** `email` and `accountId`: of the account concerned, if there is one. */
type About = { client: Client; email?: string | undefined; accountId?: string | undefined };

const [minute, hour] = [60, 3_600];

/** Wrong passwords. */
export const wrongPasswordsMax = { ofClientIn5Minutes: 10, ofAccountInAnHour: 100, fromIpIn5Minutes: 100 };

/** Many clients share the address of a proxy, so it says little about any of them. */
const byIp = ({ client: { ip, shared } }: About) => (shared ? undefined : [ip]);
const byEmail = ({ email }: About) => (email === undefined ? undefined : [email.toLowerCase()]);
const byEmailAndIp = (about: About) => byEmail(about) && [...byEmail(about)!, about.client.ip];
const byAccount = ({ accountId }: About) => (accountId === undefined ? undefined : [accountId]);

const fromIp = "from your IP address";
const forAccount = "for this account";

/**
 * By path under /api/auth. Failed attempts of one client lock out that client alone; the limit by email alone is for
 * guesses from many addresses.
 */
const limits: Record<string, { failuresOnly?: true; all: Limit[] }> = {
  "/sign-in/email": {
    failuresOnly: true,
    all: [
      {
        where: forAccount,
        max: wrongPasswordsMax.ofClientIn5Minutes,
        windowSeconds: 5 * minute,
        subject: byEmailAndIp,
      },
      { where: forAccount, max: wrongPasswordsMax.ofAccountInAnHour, windowSeconds: hour, subject: byEmail },
      { where: fromIp, max: wrongPasswordsMax.fromIpIn5Minutes, windowSeconds: 5 * minute, subject: byIp },
    ],
  },
  "/sign-up/email": { all: [{ where: fromIp, max: 60, windowSeconds: minute, subject: byIp }] },
  "/change-password": {
    failuresOnly: true,
    all: [{ where: forAccount, max: 10, windowSeconds: 5 * minute, subject: byAccount }],
  },
  "/delete-user": {
    failuresOnly: true,
    all: [{ where: forAccount, max: 10, windowSeconds: 5 * minute, subject: byAccount }],
  },
  "/request-password-reset": {
    all: [
      { where: "for this email", max: 5, windowSeconds: 10 * minute, subject: byEmail },
      { where: fromIp, max: 30, windowSeconds: 10 * minute, subject: byIp },
    ],
  },
  "/reset-password": { all: [{ where: fromIp, max: 30, windowSeconds: minute, subject: byIp }] },
};

/**
 * Runs the attempt. It is counted before, so that attempts in parallel cannot exceed a limit, and taken back if it
 * succeeds where only failures count, or if it was no answer of the account. Throws RATE_LIMITED if a limit is reached.
 */
export async function limitAttempts<T>(
  db: Database,
  path: string,
  about: About,
  attempt: () => Promise<T>,
): Promise<T> {
  const limit = limits[path];
  if (!limit) return attempt();
  const counted: Attempt[] = [];
  const uncount = async () => {
    for (const one of counted) await uncountAttempt(db, one);
  };
  for (const [at, { where, max, windowSeconds, subject: subjectOf }] of limit.all.entries()) {
    const subject = subjectOf(about);
    if (!subject) continue;
    const one = { kind: `${path} ${at}`, subject, windowSeconds };
    const { count, endsInSeconds } = await countAttempt(db, one);
    if (count > max) {
      // A client that reached its own limit takes nothing from the limits of others.
      await uncount();
      throw new Refusal("RATE_LIMITED", {
        message: `Too many attempts ${where}.`,
        hint: `Try again in ${endsInSeconds} seconds.`,
        retryAfterSeconds: endsInSeconds,
      });
    }
    counted.push(one);
  }
  try {
    const result = await attempt();
    if (limit.failuresOnly) await uncount();
    return result;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "UNAVAILABLE") await uncount().catch(() => {});
    throw error;
  }
}
