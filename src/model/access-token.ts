// Personal access tokens: creates them, masks them, and reads them from the Authorization header.
import { randomInt } from "node:crypto";

/** `runs`: reads everything, and starts and cancels runs. `erasures`: erases data, and nothing else. */
export const tokenScopes = ["runs", "erasures"] as const;
export type TokenScope = (typeof tokenScopes)[number];

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A new token: `svcp_` and 40 characters of [A-Za-z0-9], 238 bits. */
export function makeAccessToken(): string {
  return `svcp_${Array.from({ length: 40 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
}

/** The token as lists show it, from its last four characters. */
export function maskAccessToken(lastFour: string): string {
  return `svcp_...${lastFour}`;
}

/** The token in `Authorization: Bearer …`, in whatever format; undefined if there is no such header. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header ?? "")?.[1];
}
