// Hashes passwords, two at a time: each hash takes one of libuv's four threads for 0.1 s, and the others are needed to
// open database connections and to inflate bodies.
import { hashPassword, verifyPassword } from "better-auth/crypto";
import { Refusal } from "../../model/refusal.ts";
import { Semaphore } from "../../threads/semaphore.ts";

const semaphore = new Semaphore(2);
const waitMs = 10_000;

export type PasswordHashing = {
  hash(password: string): Promise<string>;
  verify(given: { hash: string; password: string }): Promise<boolean>;
};

/** The accounts library's scrypt: about 0.1 s of a core. */
const scrypt: PasswordHashing = { hash: hashPassword, verify: verifyPassword };

/** Both functions throw UNAVAILABLE after waiting 10 s for a permit. */
export function limitHashing({ hash, verify }: PasswordHashing = scrypt): PasswordHashing {
  return {
    hash: password => withPermit(() => hash(password)),
    verify: given => withPermit(() => verify(given)),
  };
}

async function withPermit<T>(work: () => Promise<T>): Promise<T> {
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
