// The client's IP address behind proxies: the rightmost address of the header that they set which is no trusted proxy.
import type { IncomingHttpHeaders } from "node:http";
import ipaddr from "ipaddr.js";
import type { App } from "./deps.ts";

declare module "fastify" {
  interface FastifyRequest {
    readonly clientIp: string;
  }
}

export type Client = {
  /** IPv4 addresses in their usual form, also if the socket has them mapped to IPv6. */
  ip: string;
  /** Why all clients of a proxy seem to have its address, for the log. */
  problem?: string;
};

export type Proxies = {
  /** Addresses and networks. */
  trusted: readonly string[];
  /** The header that they set, in lowercase. */
  header: string;
};

/** Gives every request its `clientIp`, and logs once if clients cannot be told apart. */
export function readClients(app: App, proxies: Proxies): void {
  const clientOf = clientReader(proxies);
  const logged = new Set<string>();
  app.decorateRequest("clientIp", {
    getter() {
      const { ip, problem } = clientOf(this.raw);
      if (problem !== undefined && !logged.has(problem)) {
        logged.add(problem);
        this.log.warn({ proxy: this.ip }, problem);
      }
      return ip;
    },
  });
}

const untrusted =
  "requests come through a proxy that SVC_TRUSTED_PROXIES does not name, so all its clients count as one IP address";
const otherHeader = (header: string) =>
  `the proxy sends no ${header}, so all its clients count as one IP address: set SVC_FORWARDED_HEADER to the header that it sets`;

type Peer = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } };

/**
 * Reads the client of a request. Only what a trusted peer wrote counts: no other header, and nothing before an entry that is
 * no address. In doubt the client is the nearest proxy, so that it shares its limits with others rather than escape them.
 */
export function clientReader({ trusted, header }: Proxies): (request: Peer) => Client {
  const networks = trusted.map(one => (one.includes("/") ? ipaddr.parseCIDR(one) : hostNetwork(one)));
  const isTrusted = (ip: ipaddr.IPv4 | ipaddr.IPv6) =>
    networks.some(([network, bits]) => network.kind() === ip.kind() && ip.match(network, bits));
  const entriesOf = header === "forwarded" ? forwarded : listed;
  return ({ headers, socket }) => {
    const peer = parsed(socket.remoteAddress ?? "");
    if (!peer) return { ip: "" };
    const ip = peer.toString();
    const isForwarded = [header, "x-forwarded-for", "forwarded"].some(name => headers[name] !== undefined);
    if (!isTrusted(peer)) return { ip, ...(isForwarded && isLocal(peer) && { problem: untrusted }) };
    const given = headers[header];
    if (given !== undefined) return { ip: rightmost(entriesOf([given].flat().join()), isTrusted) ?? ip };
    return { ip, ...(isForwarded && { problem: otherHeader(header) }) };
  };
}

/** How much of a limit for one client the /48 of an IPv6 address may use. */
export const wideTimes = 10;

/** `times`: how much of a limit for one client the network may use. */
export type Network = { network: string; times: number };

/**
 * What rate limits count: an IPv4 address, or the /64 of IPv6 in which a client chooses its addresses, and the /48 of which
 * many providers give a customer all 65,536 of those.
 */
export function networksOf(ip: string): Network[] {
  const parsedIp = parsed(ip);
  if (!(parsedIp instanceof ipaddr.IPv6)) return [{ network: ip, times: 1 }];
  const prefix = (groups: number) =>
    `${parsedIp.parts
      .slice(0, groups)
      .map(part => part.toString(16))
      .join(":")}::/${groups * 16}`;
  return [
    { network: prefix(4), times: 1 },
    { network: prefix(3), times: wideTimes },
  ];
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

function listed(given: string): string[] {
  return given.split(",");
}

/** RFC 7239: `for=192.0.2.60;proto=https, for="[2001:db8::1]:4711"`. A client's open quote does not reach what a proxy appends. */
function forwarded(given: string): string[] {
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
