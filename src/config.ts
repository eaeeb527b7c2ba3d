// Reads the environment into one frozen Config, or says in one line which variable is wrong.
import { availableParallelism, homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { databaseUrl, integer, isNetwork, isTarget, oneOf, shown, text, url } from "./config/fields.ts";
import { isPackage, root } from "./config/package.ts";
import { defaultDataDir } from "./embedded/default-folder.ts";
import { type JudgeConnection, judgeProviders } from "./model/judge/call.ts";
import { decodeLimits } from "./wire/limits.ts";

/** The judge of every project that has none of its own. */
export type JudgeConfig = Readonly<JudgeConnection>;

/** Limits of one request and of one merged trace. */
export type Bounds = {
  /** After decompression. Not configurable. */
  readonly bodyBytesMax: number;
  readonly nestingMax: number;
  readonly requestSpansMax: number;
  readonly requestTracesMax: number;
  /** JSON values or protobuf messages in one request. */
  readonly requestElementsMax: number;
  readonly traceSpansMax: number;
  readonly traceBytesMax: number;
};

export type Role = "http" | "worker";

const poolers = ["none", "transaction"] as const;
export type Pooler = (typeof poolers)[number];

export type Config = {
  /** 0 takes any free port; the caller then updates `baseUrl` once the port is known. */
  readonly port: number;
  readonly host: string;
  /** An origin without a trailing slash, for links in emails. */
  readonly baseUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  /** The folder of the built dashboard. Absolute. */
  readonly dashboardDir: string;
  /** Undefined: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** `transaction`: `databaseUrl` leads to a pooler that may run each transaction in another session. */
  readonly databasePooler: Pooler;
  /** The database behind the pooler; undefined without one. */
  readonly databaseDirectUrl: string | undefined;
  /** The key that encrypts stored secrets, as 64 hex digits. Undefined: the key in `dataDir`. */
  readonly secretKey: string | undefined;
  /** Private hosts, IP addresses and networks that users may have called. */
  readonly allowPrivateTargets: readonly string[];
  /** IP addresses and networks of the proxies in front of the service. */
  readonly trustedProxies: readonly string[];
  /** Undefined: emails are written to files in the outbox. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  /** Undefined: no judge, so semantic checks are skipped and routing is unavailable. */
  readonly judge: JudgeConfig | undefined;
  /** Timeout of one call of any judge. */
  readonly judgeTimeoutMs: number;
  /** How long a run waits for the judge, retries included. */
  readonly judgeDeadlineMs: number;
  readonly roles: readonly Role[];
  readonly debounceMs: number;
  readonly debounceCapMs: number;
  /** Traces of all projects are deleted this many days after they arrived; undefined: only by the projects' own times. */
  readonly retentionDays: number | undefined;
  /** How long a worker may be silent before another one takes its runs over. */
  readonly leaseMs: number;
  /** Threads that evaluate, on this machine. */
  readonly evaluators: number;
  /** Processes that serve HTTP. Undefined: one less than there are cores, or as many as the database has connections for. */
  readonly httpProcesses: number | undefined;
  /** Connections to the database that all processes of this machine may have. Undefined: what the database allows. */
  readonly databaseConnections: number | undefined;
  readonly bounds: Bounds;
  readonly logLevel: LogLevel;
  /** Absent from the environment: text where standard output is a terminal, else JSON. */
  readonly logFormat: LogFormat;
};

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
const logFormats = ["json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];

/** A variable is invalid. The message is one line for the operator and never shows a secret. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** The package is replaced by an upgrade, and so may npx's copy be at any time: its data is in the user's home. */
const ownDataDir = isPackage ? join(homedir(), ".onlooker") : join(root, "data");
// With the embedded database everything is on one machine, and so are the first agents that are tried.
const ownMachine = ["127.0.0.0/8", "::1"];

/** Messages continue the variable's name. Those of variables that may contain a secret do not repeat the value. */
const environment = z.object({
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
  SVC_SMTP_URL: url(["smtp:", "smtps:"], "smtp://user:password@host:587").optional(),
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
  SVC_JUDGE_DEADLINE_MS: integer(0, 86_400_000).default(900_000),
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
  SVC_LOG_LEVEL: oneOf(logLevels).default("info"),
  SVC_LOG_FORMAT: oneOf(logFormats).default(() => (process.stdout.isTTY ? "text" : "json")),
});

/** Every variable that is read. */
export const variableNames = Object.keys(environment.shape);

type Environment = z.output<typeof environment>;

/** Reads every variable; an empty or blank one counts as absent, but for SVC_ALLOW_PRIVATE_TARGETS as none. Throws ConfigError for the first that is invalid. */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.entries(variables).map(([name, value]) => [
    name,
    value?.trim() || (name === "SVC_ALLOW_PRIVATE_TARGETS" ? value?.trim() : undefined),
  ]);
  const { data: env, error } = environment.safeParse(Object.fromEntries(given));
  if (error) throw new ConfigError(`${String(error.issues[0]!.path[0])} ${error.issues[0]!.message}`);
  const debounceMs = env.SVC_DEBOUNCE_MS;
  const debounceCapMs = env.SVC_DEBOUNCE_CAP_MS ?? Math.max(60_000, debounceMs);
  if (debounceCapMs < debounceMs) {
    throw new ConfigError(
      `SVC_DEBOUNCE_CAP_MS is ${debounceCapMs}, less than SVC_DEBOUNCE_MS, ${debounceMs}: it must be at least that.`,
    );
  }
  const baseUrl = env.SVC_BASE_URL ?? `http://localhost:${env.PORT}`;
  requireDirectUrl(env);
  const databaseUrl = env.DATABASE_URL;
  const defaultDir = () => (databaseUrl === undefined ? defaultDataDir(ownDataDir) : ownDataDir);
  return deepFreeze({
    port: env.PORT,
    host: env.SVC_HOST,
    baseUrl,
    dataDir: env.SVC_DATA_DIR === undefined ? defaultDir() : resolve(isPackage ? "" : root, env.SVC_DATA_DIR),
    dashboardDir: resolve(root, env.SVC_DASHBOARD_DIR),
    databaseUrl,
    databasePooler: env.SVC_DATABASE_POOLER,
    databaseDirectUrl: env.SVC_DATABASE_DIRECT_URL,
    secretKey: env.SVC_SECRET_KEY,
    allowPrivateTargets: env.SVC_ALLOW_PRIVATE_TARGETS ?? (databaseUrl === undefined ? ownMachine : []),
    trustedProxies: env.SVC_TRUSTED_PROXIES ?? [],
    smtpUrl: env.SVC_SMTP_URL,
    mailFrom: env.SVC_MAIL_FROM ?? `Onlooker <onlooker@${new URL(baseUrl).hostname}>`,
    judge: judgeOf(env),
    judgeTimeoutMs: env.SVC_JUDGE_TIMEOUT_MS,
    judgeDeadlineMs: env.SVC_JUDGE_DEADLINE_MS,
    roles: env.SVC_ROLES,
    debounceMs,
    debounceCapMs,
    retentionDays: env.SVC_RETENTION_DAYS,
    leaseMs: env.SVC_LEASE_MS,
    evaluators: env.SVC_EVALUATORS,
    httpProcesses: env.SVC_HTTP_PROCESSES,
    databaseConnections: env.SVC_DATABASE_CONNECTIONS,
    bounds: {
      bodyBytesMax: 31_457_280,
      nestingMax: env.SVC_NESTING_MAX,
      requestSpansMax: env.SVC_REQUEST_SPANS_MAX,
      requestTracesMax: env.SVC_REQUEST_TRACES_MAX,
      requestElementsMax: env.SVC_REQUEST_ELEMENTS_MAX,
      traceSpansMax: env.SVC_TRACE_SPANS_MAX,
      traceBytesMax: env.SVC_TRACE_BYTES_MAX,
    },
    logLevel: env.SVC_LOG_LEVEL,
    logFormat: env.SVC_LOG_FORMAT,
  });
}

function requireDirectUrl({
  DATABASE_URL: url,
  SVC_DATABASE_POOLER: pooler,
  SVC_DATABASE_DIRECT_URL: directUrl,
}: Environment): void {
  if (pooler === "none") {
    if (directUrl === undefined) return;
    throw new ConfigError(
      "SVC_DATABASE_DIRECT_URL is set without a pooler: set SVC_DATABASE_POOLER to transaction, or unset it.",
    );
  }
  if (url === undefined) {
    throw new ConfigError("SVC_DATABASE_POOLER is transaction: set DATABASE_URL to the pooler.");
  }
  if (directUrl === undefined) {
    throw new ConfigError(
      "SVC_DATABASE_DIRECT_URL is missing: with SVC_DATABASE_POOLER=transaction it must be the URL of the PostgreSQL behind the pooler, for migrations, locks and live updates.",
    );
  }
}

function judgeOf(env: Environment): JudgeConfig | undefined {
  const {
    SVC_JUDGE_PROVIDER: given,
    SVC_JUDGE_URL: url,
    SVC_JUDGE_MODEL: model,
    SVC_JUDGE_API_KEY: apiKey,
  } = env;
  if (given === undefined && url === undefined && model === undefined) return undefined;
  const provider = given ?? "openai_compatible";
  if (model === undefined) {
    throw new ConfigError(
      "SVC_JUDGE_MODEL is missing: a judge needs a model; without any SVC_JUDGE_ variable the service runs without a judge.",
    );
  }
  if (url === undefined && provider === "openai_compatible") {
    throw new ConfigError(
      "SVC_JUDGE_URL is missing: set it to a compatible server, or SVC_JUDGE_PROVIDER to openai, anthropic or google.",
    );
  }
  if (url === undefined && apiKey === undefined) {
    throw new ConfigError(`SVC_JUDGE_API_KEY is missing: ${provider} needs a key.`);
  }
  return {
    provider,
    url: url ?? null,
    model,
    apiKey: apiKey ?? null,
    timeoutMs: env.SVC_JUDGE_TIMEOUT_MS,
    concurrency: env.SVC_JUDGE_CONCURRENCY,
    tokensPerMinute: env.SVC_JUDGE_TOKENS_PER_MINUTE ?? null,
  };
}

/** In a fixed order; undefined for any other word. */
function rolesIn(value: string): Role[] | undefined {
  const words = new Set(value.split(",").map(word => word.trim()));
  const roles = (["http", "worker"] as const).filter(role => words.delete(role));
  return words.size === 0 ? roles : undefined;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}
