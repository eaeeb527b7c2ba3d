// Hashes passwords, two at a time: each hash takes one of libuv's four threads for 0.1 s, and the others are needed to
// open database connections and to inflate bodies. Networks take turns at the two places.

import { AsyncLocalStorage } from "node:async_hooks";
import { hashPassword, verifyPassword } from "better-auth/crypto";
import { Refusal } from "../../model/refusal.ts";
import { FairQueue, nobody, type Owners } from "../../threads/fair-queue.ts";
import { networksOf } from "../frame/client-ip.ts";
import type { PasswordHashing } from "../frame/deps.ts";

const waitMs = 10_000;
let free = 2;
const waiting = new FairQueue<() => void>();

/** The networks of the client whose password is hashed; the accounts library passes no request on. */
const askedBy = new AsyncLocalStorage<Owners>();

/** Runs `work`, whose hashes wait in turn with those of other networks. */
export function hashingFor<T>(ip: string, work: () => Promise<T>): Promise<T> {
  const networks = networksOf(ip);
  return askedBy.run([networks.at(-1)!.network, networks[0]!.network], work);
}

/** The accounts library's scrypt: about 0.1 s of a core. */
const scrypt: PasswordHashing = { hash: hashPassword, verify: verifyPassword };

/** Both functions throw UNAVAILABLE after waiting 10 s for a place. */
export function limitHashing({ hash, verify }: PasswordHashing = scrypt): PasswordHashing {
  return {
    hash: password => inPlace(() => hash(password)),
    verify: given => inPlace(() => verify(given)),
  };
}

async function inPlace<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free -= 1;
  else await turn(askedBy.getStore() ?? nobody);
  try {
    return await work();
  } finally {
    const next = waiting.turn(items => items.shift()!);
    if (next) next();
    else free += 1;
  }
}

/** Resolves when a place is passed on. */
function turn(owners: Owners): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.remove(owners, item => item === enter);
      reject(new Refusal("UNAVAILABLE", { message: "Too many people are signing in right now." }));
    }, waitMs);
    waiting.add(owners, [enter]);
  });
}
