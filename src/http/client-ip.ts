// The client's IP address behind proxies: the rightmost address of X-Forwarded-For or Forwarded that is no trusted proxy.
import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";
import type { App } from "./deps.ts";

declare module "fastify" {
  interface FastifyRequest {
    readonly client: Client;
  }
}

export type Client = {
  /** IPv4 addresses in their usual form, also if the socket has them mapped to IPv6. */
  ip: string;
  /** Whether the peer seems to be a proxy that is not trusted, so that many clients have its address. */
  shared: boolean;
};

/** Gives every request its `client`, and logs once if clients cannot be told apart. */
export function readClients(app: App, trusted: readonly string[]): void {
  const clientOf = clientReader(trusted);
  let warned = false;
  app.decorateRequest("client", {
    getter() {
      const client = clientOf(this.raw);
      if (client.shared && !warned) {
        warned = true;
        this.log.warn(
          { proxy: this.ip },
          "requests come through a proxy that SVC_TRUSTED_PROXIES does not name, so all clients have its IP address",
        );
      }
      return client;
    },
  });
}

type Peer = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } };

/**
 * Reads the client of a request. `trusted`: addresses and networks of proxies. What an untrusted peer forwards is
 * ignored, and so are headers that name different clients: a proxy that sets one of them passes the other on as the
 * client wrote it.
 */
export function clientReader(trusted: readonly string[]): (request: Peer) => Client {
  const networks = trusted.map(one => (one.includes("/") ? ipaddr.parseCIDR(one) : hostNetwork(one)));
  const isTrusted = (ip: ipaddr.IPv4 | ipaddr.IPv6) =>
    networks.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits));
  return ({ headers, socket }) => {
    const peer = parsed(socket.remoteAddress ?? "");
    if (!peer) return { ip: "", shared: false };
    const ip = peer.toString();
    const chains = [forwardedFor(headers), forwarded(headers)].filter(chain => chain !== undefined);
    if (!isTrusted(peer)) return { ip, shared: chains.length > 0 && isLocal(peer) };
    const clients = new Set(chains.map(chain => rightmost(chain, isTrusted) ?? ip));
    const [only = ip] = clients;
    return { ip: clients.size === 1 ? only : ip, shared: clients.size > 1 };
  };
}

/** What rate limits count as one client: an IPv4 address, or the /64 of IPv6 in which a client chooses its addresses. */
export function networkOf(ip: string): string {
  const parsedIp = parsed(ip);
  if (parsedIp === undefined || parsedIp.kind() === "ipv4") return ip;
  return (parsedIp as ipaddr.IPv6).parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(":")
    .concat("::/64");
}

/** The nearest address that is no proxy; what stands before an entry that is no address was not written by a proxy. */
function rightmost(
  chain: string[],
  isTrusted: (ip: ipaddr.IPv4 | ipaddr.IPv6) => boolean,
): string | undefined {
  let nearest: string | undefined;
  for (const entry of chain.toReversed()) {
    const ip = parsed(entry);
    if (!ip) break;
    nearest = ip.toString();
    if (!isTrusted(ip)) break;
  }
  return nearest;
}

function forwardedFor({ "x-forwarded-for": given }: IncomingHttpHeaders): string[] | undefined {
  return given === undefined ? undefined : [given].flat().join(",").split(",");
}

/** RFC 7239: `for=192.0.2.60;proto=https, for="[2001:db8::1]:4711"`. */
function forwarded({ forwarded: given }: IncomingHttpHeaders): string[] | undefined {
  if (given === undefined) return undefined;
  return given.split(",").map(element => {
    const parts = element.split(";").map(part => part.trim());
    return /^for=("?)([^"]*)\1$/i.exec(parts.find(part => /^for=/i.test(part)) ?? "")?.[2] ?? "";
  });
}

/** Without a port or brackets: `[::1]:4000`, `192.0.2.60:4711`. Undefined if it is no address. */
function parsed(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.trim().replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, "$1$2");
  return ipaddr.isValid(bare) && !/^[\d]+$/.test(bare) ? ipaddr.process(bare) : undefined;
}

function hostNetwork(address: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const ip = ipaddr.process(address);
  return [ip, ip.kind() === "ipv4" ? 32 : 128];
}

function isLocal(ip: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return ["loopback", "private", "uniqueLocal", "linkLocal", "carrierGradeNat"].includes(ip.range());
}
