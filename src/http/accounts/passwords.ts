// Hashing passwords, two at a time: each fills one of the process's four worker threads for a tenth of a second,
// and the others are needed to open database connections and to inflate bodies.
import { hashPassword, verifyPassword } from "better-auth/crypto";
import { Refusal } from "../../model/refusal.ts";
import { Semaphore } from "../../threads/semaphore.ts";

const semaphore = new Semaphore(2);
const waitMs = 10_000;

export type PasswordHashing = {
  hash(password: string): Promise<string>;
  verify(given: { hash: string; password: string }): Promise<boolean>;
};

/** The accounts library's own: scrypt, about 0.1 s of a core. */
const scrypt: PasswordHashing = { hash: hashPassword, verify: verifyPassword };

/** Two at a time. Both functions throw UNAVAILABLE when too many are waiting. */
export function inTurns({ hash, verify }: PasswordHashing = scrypt): PasswordHashing {
  return {
    hash: password => inTurn(() => hash(password)),
    verify: given => inTurn(() => verify(given)),
  };
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const release = await semaphore.acquire({ timeoutMs: waitMs });
  if (!release) {
    throw new Refusal("UNAVAILABLE", { message: "Too many people are signing in right now." });
  }
  try {
    return await work();
  } finally {
    release();
  }
}
