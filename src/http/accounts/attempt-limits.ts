// Limits attempts to sign in, sign up, verify an email, and change or reset passwords: by account first, and by IP address.
import type { FastifyRequest } from "fastify";
import { Refusal } from "../../model/refusal.ts";
import {
  type Attempt,
  countAttempt,
  deleteAttempts,
  hasAttempt,
  uncountAttempt,
} from "../../store/accounts/attempts.ts";
import { networksOf } from "../frame/client-ip.ts";
import type { Deps } from "../frame/deps.ts";

type Limit = {
  /** Follows "Too many attempts". */
  where: string;
  max: number;
  windowSeconds: number;
  /** None: the limit does not apply. */
  subjects: (about: Hashed) => Subject[];
  /** Does not apply to clients that have signed in to the account: strangers cannot lock them out. */
  exceptKnown?: true;
};

/** `times`: how often the limit it may use. */
type Subject = { parts: string[]; times: number };

/** `email` and `accountId`: of the account concerned, if there is one. */
type About = { ip: string; email?: string | undefined; accountId?: string | undefined };
type Hashed = Omit<About, "email"> & { emailHash: string | undefined };

const [minute, hour] = [60, 3_600];

/** Wrong passwords. */
export const wrongPasswordsMax = { ofClientIn5Minutes: 10, ofAccountInAnHour: 100, fromIpIn5Minutes: 100 };
export const signUpsPerMinute = 60;
export const resetEmailsIn10Minutes = 5;
/** The same for an account: store/accounts/accounts.ts. */
export const verificationEmailsPerHour = 5;
/** Emails that tell an owner of a sign-up with the email of the account. */
export const signUpNoticesPerHour = 3;

const byIp = ({ ip }: Hashed) => networksOf(ip).map(({ network, times }) => ({ parts: [network], times }));
const byEmail = ({ emailHash }: Hashed) =>
  emailHash === undefined ? [] : [{ parts: [emailHash], times: 1 }];
const byClient = (about: Hashed) => {
  const { network } = networksOf(about.ip)[0]!;
  return byEmail(about).map(({ parts, times }) => ({ parts: [...parts, network], times }));
};
const byAccount = ({ accountId }: Hashed) =>
  accountId === undefined ? [] : [{ parts: [accountId], times: 1 }];

const fromIp = "from your IP address";
const forAccount = "for this account";

/**
 * By path under /api. Failed attempts of one client lock out that client alone; the limit by email alone is for guesses
 * from many addresses.
 */
const limits: Record<string, { failuresOnly?: true; remembersClient?: true; all: Limit[] }> = {
  "/auth/sign-in/email": {
    failuresOnly: true,
    remembersClient: true,
    all: [
      {
        where: forAccount,
        max: wrongPasswordsMax.ofClientIn5Minutes,
        windowSeconds: 5 * minute,
        subjects: byClient,
      },
      {
        where: forAccount,
        max: wrongPasswordsMax.ofAccountInAnHour,
        windowSeconds: hour,
        subjects: byEmail,
        exceptKnown: true,
      },
      {
        where: fromIp,
        max: wrongPasswordsMax.fromIpIn5Minutes,
        windowSeconds: 5 * minute,
        subjects: byIp,
        exceptKnown: true,
      },
    ],
  },
  "/auth/sign-up/email": {
    all: [{ where: fromIp, max: signUpsPerMinute, windowSeconds: minute, subjects: byIp }],
  },
  "/auth/change-password": {
    failuresOnly: true,
    all: [{ where: forAccount, max: 10, windowSeconds: 5 * minute, subjects: byAccount }],
  },
  "/auth/delete-user": {
    failuresOnly: true,
    all: [{ where: forAccount, max: 10, windowSeconds: 5 * minute, subjects: byAccount }],
  },
  "/auth/request-password-reset": {
    all: [
      {
        where: "for this email",
        max: resetEmailsIn10Minutes,
        windowSeconds: 10 * minute,
        subjects: byEmail,
      },
      { where: fromIp, max: 30, windowSeconds: 10 * minute, subjects: byIp },
    ],
  },
  "/auth/reset-password": { all: [{ where: fromIp, max: 30, windowSeconds: minute, subjects: byIp }] },
  // Their tokens cannot be guessed; this keeps one client from occupying the database with trying.
  "/verification/confirm": { all: [{ where: fromIp, max: 60, windowSeconds: minute, subjects: byIp }] },
  "/verification/link": { all: [{ where: fromIp, max: 60, windowSeconds: minute, subjects: byIp }] },
};

type LimitDeps = Pick<Deps, "db" | "vault" | "limitAccounts">;

const hashOfEmail = ({ vault }: Pick<Deps, "vault">, email: string) => vault.hash(email.toLowerCase());

function hashed(deps: Pick<Deps, "vault">, { email, ...about }: About): Hashed {
  return { ...about, emailHash: email === undefined ? undefined : hashOfEmail(deps, email) };
}

/**
 * Runs the attempt. It is counted before, so that attempts in parallel cannot exceed a limit, and taken back if it
 * succeeds where only failures count, or if it was no answer of the account. Throws RATE_LIMITED if a limit is reached.
 */
export async function limitAttempts<T>(
  deps: LimitDeps,
  path: string,
  given: About,
  attempt: () => Promise<T>,
): Promise<T> {
  const { db, limitAccounts = true } = deps;
  const limit = limitAccounts ? limits[path] : undefined;
  if (!limit) return attempt();
  const about = hashed(deps, given);
  const counted: Attempt[] = [];
  const uncount = async () => {
    for (const one of counted) await uncountAttempt(db, one);
  };
  const isKnown = limit.all.some(({ exceptKnown }) => exceptKnown) && (await isKnownClient(db, about));
  for (const [at, { where, max, windowSeconds, subjects, exceptKnown }] of limit.all.entries()) {
    if (exceptKnown && isKnown) continue;
    for (const { parts: subject, times } of subjects(about)) {
      const one = { kind: `${path} ${at}`, subject, windowSeconds };
      const { count, endsInSeconds } = await countAttempt(db, one);
      if (count > max * times) {
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
  }
  try {
    const result = await attempt();
    if (limit.failuresOnly) await uncount();
    if (limit.remembersClient) await rememberClient(deps, given);
    return result;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "UNAVAILABLE") await uncount().catch(() => {});
    throw error;
  }
}

/**
 * The refusal to answer with: a body that a route without a session refused counts as an attempt, so that the limits by
 * address hold for it, too.
 */
export async function countRefusedBody(
  deps: LimitDeps,
  request: FastifyRequest,
  refusal: unknown,
): Promise<unknown> {
  const { url = "", config } = request.routeOptions;
  if (request.method !== "POST" || request.isReadable || config?.access !== "open") return refusal;
  const path = url.replace(/^\/api/, "");
  return limitAttempts(deps, path, { ip: request.clientIp }, async () => {
    throw refusal instanceof Refusal ? refusal : new Refusal("VALIDATION_ERROR", { cause: refusal });
  }).catch((error: unknown) => (error instanceof Refusal && error.code === "RATE_LIMITED" ? error : refusal));
}

const knownSeconds = 90 * 24 * hour;

const knownKind = "known client";

function knownClient(about: Hashed) {
  const [client] = byClient(about);
  return client && { kind: knownKind, subject: client.parts };
}

async function isKnownClient(db: Deps["db"], about: Hashed): Promise<boolean> {
  const known = knownClient(about);
  return known !== undefined && hasAttempt(db, known);
}

/** Call when the client has proved that it belongs to the owner, by the password or a link from an email. */
export async function rememberClient(deps: Pick<Deps, "db" | "vault">, about: About): Promise<void> {
  const known = knownClient(hashed(deps, about));
  if (known) await countAttempt(deps.db, { ...known, windowSeconds: knownSeconds });
}

/**
 * Call when the account is deleted. What counts emails stays until its hour is over, so that nobody is sent more of them by
 * creating and deleting an account.
 */
export async function forgetAttempts(deps: Pick<Deps, "db" | "vault">, email: string): Promise<void> {
  const kinds = ["/auth/sign-in/email 0", "/auth/sign-in/email 1", knownKind];
  await deleteAttempts(deps.db, kinds, hashOfEmail(deps, email));
}

/** Whether the owner may be told once more of a sign-up with this email. */
export async function mayNotify(deps: LimitDeps, email: string): Promise<boolean> {
  const { db, limitAccounts = true } = deps;
  if (!limitAccounts) return true;
  const subject = [hashOfEmail(deps, email)];
  const { count } = await countAttempt(db, { kind: "sign-up notice", subject, windowSeconds: hour });
  return count <= signUpNoticesPerHour;
}

const verificationEmail = (deps: LimitDeps, email: string) => ({
  kind: "verification email",
  subject: [hashOfEmail(deps, email)],
});

/** Counts a verification email. Returns null if it may be sent, else after how many seconds the next one may. */
export async function countVerificationEmail(deps: LimitDeps, email: string): Promise<number | null> {
  const { db, limitAccounts = true } = deps;
  if (!limitAccounts) return null;
  const { count, endsInSeconds } = await countAttempt(db, {
    ...verificationEmail(deps, email),
    windowSeconds: hour,
  });
  return count > verificationEmailsPerHour ? endsInSeconds : null;
}

/** Takes back the count of an email that was not sent. */
export async function uncountVerificationEmail(deps: LimitDeps, email: string): Promise<void> {
  await uncountAttempt(deps.db, verificationEmail(deps, email));
}
