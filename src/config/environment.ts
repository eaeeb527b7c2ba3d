// The variables of the environment: what each may be, and what it is by default.
import { availableParallelism } from "node:os";
import { z } from "zod";
import { judgeProviders } from "../model/judge/call.ts";
import { defaultQuotas } from "../model/quotas.ts";
import { decodeLimits } from "../wire/limits.ts";
import { databaseUrl, integer, isNetwork, isTarget, oneOf, shown, text, url } from "./fields.ts";

export type Role = "http" | "worker";

const poolers = ["none", "transaction"] as const;
export type Pooler = (typeof poolers)[number];

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
const logFormats = ["json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];

/** Messages continue the variable's name. Those of variables that may contain a secret do not repeat the value. */
export const environment = z.object({
  PORT: integer(0, 65_535).default(4000),
  SVC_DEBOUNCE_MS: integer(0, 3_600_000).default(5_000),
  SVC_DEBOUNCE_CAP_MS: integer(0, 86_400_000).optional(),
  SVC_BASE_URL: url(["http:", "https:"], "https://onlooker.example.com")
    .refine(value => new URL(value).href === `${new URL(value).origin}/`, {
      error:
        "contains more than an origin: it must look like https://onlooker.example.com, without path, query or user.",
    })
    .transform(value => new URL(value).origin)
    .optional(),
  DATABASE_URL: databaseUrl().optional(),
  SVC_DATABASE_POOLER: oneOf(poolers).default("none"),
  SVC_DATABASE_DIRECT_URL: databaseUrl().optional(),
  // The default keeps a first start on this machine: sign-up is open and verification links are in the log.
  SVC_HOST: text(
    value => /^[\w.:%-]+$/.test(value),
    "an IP address or name to listen on, such as 127.0.0.1, 0.0.0.0 or ::",
  ).default("127.0.0.1"),
  SVC_DATA_DIR: z.string().optional(),
  SVC_DASHBOARD_DIR: z.string().default("dist/web"),
  // As hex, or in either alphabet of base64, padded or not.
  SVC_SECRET_KEY: z
    .string()
    .regex(
      /^(?:[\da-fA-F]{64}|[\w+/-]{43}=?)$/,
      "is not a key: it must be 32 bytes as base64 or as 64 hex digits, as printed by openssl rand -base64 32.",
    )
    .transform(value =>
      value.length === 64 ? value.toLowerCase() : Buffer.from(value, "base64").toString("hex"),
    )
    .optional(),
  SVC_ALLOW_PRIVATE_TARGETS: z
    .string()
    .transform(value =>
      value === "none" || value === "" ? [] : value.split(",").map(target => target.trim().toLowerCase()),
    )
    .refine(targets => targets.every(isTarget), {
      error: ({ input }) =>
        `contains ${shown((input as string[]).find(target => !isTarget(target))!)}: it must be none, or host names, IP addresses and networks such as agent.internal,10.0.0.7,10.1.0.0/16.`,
    })
    .optional(),
  SVC_TRUSTED_PROXIES: z
    .string()
    .transform(value => value.split(",").map(proxy => proxy.trim()))
    .refine(proxies => proxies.every(isNetwork), {
      error: ({ input }) =>
        `contains ${shown((input as string[]).find(proxy => !isNetwork(proxy))!)}: it must be IP addresses and networks such as 127.0.0.1,10.1.0.0/16.`,
    })
    .optional(),
  SVC_FORWARDED_HEADER: text(
    value => /^[a-z\d-]+$/i.test(value),
    "the name of a header, such as X-Forwarded-For",
  )
    .transform(value => value.toLowerCase())
    .default("x-forwarded-for"),
  // smtp:host parses as well, but names no host.
  SVC_SMTP_URL: url(["smtp:", "smtps:"], "smtp://user:password@host:587")
    .refine(value => new URL(value).hostname !== "", {
      error: "names no host: it must look like smtp://user:password@host:587.",
    })
    .optional(),
  SVC_MAIL_FROM: text(
    value => /^(?:[^<>\r\n]* ?<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value),
    "an email address, such as Onlooker <onlooker@example.com>",
  ).optional(),
  SVC_JUDGE_PROVIDER: oneOf(judgeProviders).optional(),
  // A user in the URL could not be sent; a query is added to every call.
  SVC_JUDGE_URL: url(["http:", "https:"], "https://api.example.com/v1")
    .refine(
      value => {
        const { username, password, hash } = new URL(value);
        return username + password + hash === "";
      },
      {
        error:
          "must look like https://api.example.com/v1, without user or fragment; a key is SVC_JUDGE_API_KEY.",
      },
    )
    .optional(),
  SVC_JUDGE_MODEL: z.string().optional(),
  SVC_JUDGE_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "is not a key: it contains a space or another character that keys do not have.")
    .optional(),
  // A model on a small machine may have to be loaded first.
  SVC_JUDGE_TIMEOUT_MS: integer(100, 600_000).default(60_000),
  SVC_JUDGE_CONCURRENCY: integer(1, 1_000).default(8),
  SVC_JUDGE_TOKENS_PER_MINUTE: integer(1_000, 1_000_000_000).optional(),
  SVC_JUDGE_ACCOUNT_TOKENS_PER_DAY: integer(0, 1_000_000_000_000).optional(),
  SVC_JUDGE_DEADLINE_MS: integer(0, 86_400_000).default(900_000),
  SVC_ACCOUNT_PROJECTS_MAX: integer(1, 1_000_000).default(defaultQuotas.projects),
  SVC_ACCOUNT_AGENTS_MAX: integer(1, 1_000_000).default(defaultQuotas.agents),
  SVC_ACCOUNT_KEYS_MAX: integer(1, 1_000_000).default(defaultQuotas.keys),
  SVC_ACCOUNT_TESTS_MAX: integer(1, 1_000_000).default(defaultQuotas.tests),
  SVC_ACCOUNT_ACCESS_TOKENS_MAX: integer(1, 1_000_000).default(defaultQuotas.tokens),
  SVC_ACCOUNT_ERASURES_MAX: integer(1, 1_000_000).default(defaultQuotas.erasures),
  SVC_ACCOUNT_BYTES_PER_DAY: integer(0, 1_000_000_000_000_000).default(defaultQuotas.bytesPerDay),
  SVC_ROLES: text(value => rolesIn(value) !== undefined, "http, worker or http,worker")
    .transform(value => rolesIn(value)!)
    .default(["http", "worker"]),
  SVC_RETENTION_DAYS: integer(1, 36_500).optional(),
  SVC_LEASE_MS: integer(1_000, 3_600_000).default(30_000),
  SVC_EVALUATORS: integer(1, 64).default(() => Math.min(4, Math.max(1, availableParallelism() - 1))),
  SVC_HTTP_PROCESSES: integer(1, 256).optional(),
  SVC_DATABASE_CONNECTIONS: integer(10, 10_000).optional(),
  SVC_NESTING_MAX: integer(10, 1_000).default(decodeLimits.nestingMax),
  SVC_REQUEST_SPANS_MAX: integer(1, 1_000_000).default(decodeLimits.spansMax),
  SVC_REQUEST_TRACES_MAX: integer(1, 1_000_000).default(decodeLimits.tracesMax),
  SVC_REQUEST_ELEMENTS_MAX: integer(1_000, 20_000_000).default(decodeLimits.elementsMax),
  SVC_TRACE_SPANS_MAX: integer(1, 2_000_000).default(200_000),
  // The minimum still takes any single request; the maximum is what one bytea can hold.
  SVC_TRACE_BYTES_MAX: integer(31_457_280, 1_000_000_000).default(268_435_456),
  SVC_PENDING_RUNS_MAX: integer(1, 100_000_000).default(200_000),
  SVC_LOG_LEVEL: oneOf(logLevels).default("info"),
  SVC_LOG_FORMAT: oneOf(logFormats).default(() => (process.stdout.isTTY ? "text" : "json")),
});

/** Every variable that is read. */
export const variableNames = Object.keys(environment.shape);

export type Environment = z.output<typeof environment>;

/** In a fixed order; undefined for any other word. */
function rolesIn(value: string): Role[] | undefined {
  const words = new Set(value.split(",").map(word => word.trim()));
  const roles = (["http", "worker"] as const).filter(role => words.delete(role));
  return words.size === 0 ? roles : undefined;
}
