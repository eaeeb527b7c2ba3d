// How much an account may have, and store in a day: far more than people make by hand, little until its email is verified.

export const quotaNouns = {
  projects: "projects",
  agents: "agents",
  keys: "keys",
  tests: "tests",
  tokens: "access tokens",
  erasures: "erasures",
} as const;

export type QuotaNoun = keyof typeof quotaNouns;

/** `bytesPerDay`: traces and log records as sent, decompressed, large requests, and the inputs of test runs. */
export type Quotas = Readonly<Record<QuotaNoun, number>> & { readonly bytesPerDay: number };

export const defaultQuotas: Quotas = {
  projects: 1_000,
  agents: 10_000,
  keys: 10_000,
  tests: 50_000,
  tokens: 1_000,
  erasures: 100_000,
  bytesPerDay: 107_374_182_400,
};

/** Without a verified email an account sends no traces and no large requests, and runs no tests. */
export const unverifiedQuotas: Readonly<Record<QuotaNoun, number>> = {
  projects: 20,
  agents: 100,
  keys: 100,
  tests: 500,
  tokens: 20,
  erasures: 100,
};
