// An account: the person who signs in, owns projects, and whose verified email opens ingestion.

export type Account = {
  id: string;
  name: string;
  /** Lower-case. */
  email: string;
  emailVerified: boolean;
};

/** Why a verification link can, or can no longer, be confirmed. */
export type LinkState = "open" | "used" | "expired" | "unknown";
