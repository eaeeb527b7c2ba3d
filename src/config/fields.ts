// Schemas of environment variables, with messages that continue the variable's name.
import ipaddr from "ipaddr.js";
import { z } from "zod";
import { readDatabaseUrl } from "../store/connection/database-url.ts";

/** `wanted` completes "it must be". */
export function text(isValid: (value: string) => boolean, wanted: string) {
  const error = ({ input }: { input?: unknown }) => `is ${shown(String(input))}: it must be ${wanted}.`;
  return z.string().refine(isValid, { error, abort: true });
}

export function integer(min: number, max: number) {
  const isValid = (value: string) => /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max;
  return text(isValid, `a whole number from ${min} to ${max}`).transform(Number);
}

export function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, {
    error: ({ input }) => `is ${shown(String(input))}: it must be one of ${words.join(", ")}.`,
  });
}

/** Its message never repeats the value: URLs of databases and mail servers contain passwords. */
export function url(protocols: string[], example: string) {
  return z.string().refine(value => protocols.includes(URL.parse(value)?.protocol ?? ""), {
    error: `is not a URL that this service can use: it must look like ${example}.`,
    abort: true,
  });
}

/** One server or several, as libpq reads them. */
export function databaseUrl() {
  return z
    .string()
    .refine(value => readDatabaseUrl(value) !== undefined, {
      error:
        "is not a URL that this service can use: it must look like postgresql://user:password@host:5432/name, or name several servers: a:5432,b:5432.",
      abort: true,
    })
    .refine(value => [null, "read-write", "primary"].includes(readDatabaseUrl(value)!.target), {
      error: "has a target_session_attrs that cannot be used: Onlooker writes, so it must be read-write.",
    });
}

export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text) || ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

export function isTarget(target: string): boolean {
  if (ipaddr.isValidCIDR(target)) return true;
  // What looks like an IP address must be one in its usual form: 127.1 and 0x7f000001 would pass as names.
  if (/^[\d.]+$|^0x|:|\//.test(target)) return isNetwork(target);
  return /^[a-z\d_]([a-z\d_-]*[a-z\d])?(\.[a-z\d_]([a-z\d_-]*[a-z\d])?)*$/.test(target);
}

/** A value for one line of text: quoted, control characters escaped, truncated. */
export function shown(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
