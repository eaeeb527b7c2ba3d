// Who may call a route.
import type { TokenScope } from "../model/access-token.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
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

type Registered = {
  method: string | string[];
  url: string;
  config?: { access?: Access; open?: boolean; tokens?: boolean; erasureTokens?: boolean } | undefined;
};

// Routes about credentials of the user, which access tokens may not even read.
const closedToTokens = new Set(["auth", "verification", "access-tokens"]);

export function accessOf({ method, url, config = {} }: Registered): Access {
  if (config.access !== undefined) return config.access;
  if (config.open) return "open";
  if (!url.startsWith("/api/")) return url.startsWith("/public/") ? "key" : "open";
  const reads = [method].flat().every(one => one === "GET" || one === "HEAD");
  const tokens = (reads && !closedToTokens.has(url.split("/")[2] ?? "")) || config.tokens === true;
  if (config.erasureTokens) return tokens ? "all tokens" : "erasure tokens";
  return tokens ? "tokens" : "session";
}
