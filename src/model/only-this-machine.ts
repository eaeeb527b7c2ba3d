// Whether a service is for the user of this machine alone: the only case in which a default may be looser than for the public.
import ipaddr from "ipaddr.js";

type Reached = { host?: string; baseUrl: string; trustedProxies?: readonly string[] };

/** It listens on loopback, is opened there, and no proxy passes requests on. */
export function isOnlyThisMachine({ host = "", baseUrl, trustedProxies = [] }: Reached): boolean {
  return isLoopback(host) && isLoopback(new URL(baseUrl).hostname) && trustedProxies.length === 0;
}

/** Of a name, only localhost is. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (bare === "localhost") return true;
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === "loopback";
}
