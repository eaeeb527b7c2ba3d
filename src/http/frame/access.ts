// Who may call a route. Every route names one of these: one that names none cannot be registered.
import type { TokenScope } from "../../model/access-token.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    access: Access;
  }
}

/** `key`: the route itself checks an API key. The last three admit a session, and tokens of the scopes below. */
export type Access = "open" | "key" | "session" | "tokens" | "erasure tokens" | "all tokens";

const admitted: Record<Access, readonly TokenScope[]> = {
  open: [],
  key: [],
  session: [],
  tokens: ["runs"],
  "erasure tokens": ["erasures"],
  "all tokens": ["runs", "erasures"],
};

/** Whether a route admits access tokens of this scope. */
export function admitsTokens(access: Access, scope: TokenScope): boolean {
  return admitted[access].includes(scope);
}
