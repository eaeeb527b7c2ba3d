// Which addresses a call may go to: those of the public internet, and those the operator allowed.
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Says of a host and one of its addresses why no call may go there, in a word or two ("private"), or undefined. */
export type Guard = (host: string, address: string) => string | undefined;

/** `allow` holds host names, addresses and networks, as SVC_ALLOW_PRIVATE_TARGETS does. */
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

/** In small letters, without the dot that may end it or the brackets of an address. */
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

/** An IPv4 address in its usual form, an IPv6 address without its zone; of an IPv4-mapped one, the IPv4 address. */
function parse(text: string): Address | undefined {
  const address = text.replace(/%.*$/, "");
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

// The services for machines of one cloud at a public address.
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

/** The IPv4 address that a gateway of NAT64 or 6to4 takes out of this one. */
function embeddedIn(address: Address): ipaddr.IPv4 | undefined {
  if (!(address instanceof ipaddr.IPv6)) return undefined;
  const bytes = address.toByteArray();
  if (within(address, ipaddr.parseCIDR("64:ff9b::/96"))) return new ipaddr.IPv4(bytes.slice(12));
  if (within(address, ipaddr.parseCIDR("2002::/16"))) return new ipaddr.IPv4(bytes.slice(2, 6));
  return undefined;
}
