// A personal access token: how its text is made, masked and told from other keys.
import { randomInt } from "node:crypto";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A new token: `svcp_` and 40 characters of [A-Za-z0-9], 238 bits. */
export function makeAccessToken(): string {
  return `svcp_${Array.from({ length: 40 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
}

/** How a token is listed, from its last four characters. */
export function maskAccessToken(lastFour: string): string {
  return `svcp_...${lastFour}`;
}

/** The token of the header `Authorization: Bearer …`, of whatever form; undefined where there is no such header. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header ?? "")?.[1];
}
