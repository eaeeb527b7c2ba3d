// Validates URL search parameters. Invalid ones are returned as undefined instead of being left out, because the router
// would keep their raw value.

/** The URL to open after signing in. */
export function nextOf(search: Record<string, unknown>): { next?: string | undefined } {
  return { next: ownPath(search["next"]) };
}

/** A path of this dashboard, never a URL of another site (open redirect). */
export function ownPath(path: unknown): string | undefined {
  if (typeof path !== "string" || path === "/") return undefined;
  const url = URL.parse(path, location.origin);
  if (url?.origin !== location.origin || !path.startsWith("/")) return undefined;
  return url.pathname + url.search + url.hash;
}

/** Picks these string parameters from a URL's search. */
export function textsOf<const N extends string>(...names: N[]) {
  return (search: Record<string, unknown>): { [K in N]?: string | undefined } =>
    Object.fromEntries(
      names.map(name => [name, typeof search[name] === "string" ? search[name] : undefined]),
    ) as { [K in N]?: string | undefined };
}
