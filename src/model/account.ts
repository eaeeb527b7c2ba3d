// An account: the person who signs in, owns projects, and whose verified email opens ingestion.

export type Account = {
  id: string;
  name: string;
  /** Lower-case. */
  email: string;
  emailVerified: boolean;
};

/** Whether a verification link can still be confirmed, and if not, why. */
export type LinkState = "open" | "used" | "expired" | "unknown";
