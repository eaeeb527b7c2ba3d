// Decides which IP addresses may be called: public ones, and those that the operator allowed.
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Why a host at this IP address may not be called, in a word or two ("private"); undefined if it may. */
export type Guard = (host: string, address: string) => string | undefined;

/** `allow`: host names, IP addresses and networks, as in SVC_ALLOW_PRIVATE_TARGETS. */
export function guardOf(allow: readonly string[]): Guard {
  const networks = allow.map(networkOf).filter(network => network !== undefined);
  const names = new Set(allow.filter(target => networkOf(target) === undefined).map(plainName));
  return (host, address) => {
    const parsed = parse(address);
    if (parsed === undefined) return "unknown";
    const why = unfit(parsed);
    if (why === undefined || names.has(plainName(host))) return undefined;
    return networks.some(network => within(parsed, network)) ? undefined : why;
  };
}

/** Lowercase, without a trailing dot or the brackets of an IPv6 address. */
export function plainName(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^\[|\]$/g, "");
}

function networkOf(target: string): [Address, number] | undefined {
  if (ipaddr.isValidCIDR(target)) return ipaddr.parseCIDR(target);
  const address = parse(target);
  return address && [address, address.kind() === "ipv4" ? 32 : 128];
}

/** An IPv4 address in its usual form, or an IPv6 address without its zone; the IPv4 address of an IPv4-mapped one. */
function parse(text: string): Address | undefined {
  const address = text.split("%", 1)[0]!;
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  return ipaddr.IPv6.isValid(address) ? ipaddr.process(address) : undefined;
}

function within(address: Address, [network, bits]: [Address, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

const words: Record<string, string> = {
  unspecified: "unspecified",
  linkLocal: "link-local",
  multicast: "multicast",
  broadcast: "broadcast",
  loopback: "loopback",
  uniqueLocal: "private",
  deprecatedSiteLocal: "private",
  private: "private",
  carrierGradeNat: "carrier-NAT",
};

// A cloud's metadata service at a public IP address.
const metadata = ipaddr.IPv4.parse("168.63.129.16");
const globalUnicast = ipaddr.parseCIDR("2000::/3");

function unfit(address: Address): string | undefined {
  const embedded = embeddedIn(address);
  if (embedded !== undefined) return unfit(embedded);
  const range = address.range();
  if (range !== "unicast") return words[range] ?? "reserved";
  if (address.kind() === "ipv4") return within(address, [metadata, 32]) ? "metadata" : undefined;
  return within(address, globalUnicast) ? undefined : "reserved";
}

/** The IPv4 address that a NAT64 or 6to4 gateway extracts from this one. */
function embeddedIn(address: Address): ipaddr.IPv4 | undefined {
  if (!(address instanceof ipaddr.IPv6)) return undefined;
  const bytes = address.toByteArray();
  if (within(address, ipaddr.parseCIDR("64:ff9b::/96"))) return new ipaddr.IPv4(bytes.slice(12));
  if (within(address, ipaddr.parseCIDR("2002::/16"))) return new ipaddr.IPv4(bytes.slice(2, 6));
  return undefined;
}
