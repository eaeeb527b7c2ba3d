// Reads the environment once, into one frozen Config, or says in one line which variable is wrong.
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ipaddr from "ipaddr.js";
import { defaultDataDir } from "./embedded/default-folder.ts";
import { type JudgeConnection, type JudgeProvider, judgeProviders } from "./model/judge/call.ts";
import { decodeLimits } from "./wire/limits.ts";

/** The judge of every project that brings none of its own. */
export type JudgeConfig = Readonly<JudgeConnection>;

/** What one request or one merged trace may hold (A4, A11). */
export type Bounds = {
  /** After decompression. Fixed by the contract. */
  readonly bodyBytesMax: number;
  readonly nestingMax: number;
  readonly requestSpansMax: number;
  /** JSON values or protobuf messages in one request. */
  readonly requestElementsMax: number;
  readonly traceSpansMax: number;
  readonly traceBytesMax: number;
};

export type Role = "http" | "worker";

export type Config = {
  /** 0 takes any free port; `baseUrl` then has to be formed again by the caller, once the port is known. */
  readonly port: number;
  readonly host: string;
  /** An origin without a trailing slash, as links in mails show it. */
  readonly baseUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  /** The folder of the built dashboard. Absolute. */
  readonly dashboardDir: string;
  /** Absent: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** 64 hex digits: what encrypts stored secrets. Absent: the key in `dataDir`. */
  readonly secretKey: string | undefined;
  /** Hosts, addresses and networks that users may have called although they are not public. */
  readonly allowPrivateTargets: readonly string[];
  /** Absent: mails become files in the outbox (G2). */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  /** Absent: no judge, so semantic checks are skipped and routing is unavailable. */
  readonly judge: JudgeConfig | undefined;
  /** How long a run waits for the judge, its retries included. */
  readonly judgeDeadlineMs: number;
  readonly roles: readonly Role[];
  readonly debounceMs: number;
  readonly debounceCapMs: number;
  /** How long a worker may be silent before its run is taken up by another. */
  readonly leaseMs: number;
  /** Threads that evaluate. */
  readonly evaluators: number;
  readonly bounds: Bounds;
  readonly logLevel: LogLevel;
  /** Absent from the environment: text where standard output is a terminal, else JSON. */
  readonly logFormat: LogFormat;
};

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
const logFormats = ["json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];

/** A variable that cannot be used. The message is one line for the operator and never shows a secret. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

const project = fileURLToPath(new URL("..", import.meta.url));

/** Reads every variable; one that is empty or blank counts as absent. Throws ConfigError for the first wrong one. */
export function readConfig(env: Environment): Config {
  const port = integer(env, "PORT", 4000, 0, 65_535);
  const debounceMs = integer(env, "SVC_DEBOUNCE_MS", 5_000, 0, 3_600_000);
  const debounceCapMs = integer(env, "SVC_DEBOUNCE_CAP_MS", Math.max(60_000, debounceMs), 0, 86_400_000);
  if (debounceCapMs < debounceMs) {
    throw new ConfigError(
      `SVC_DEBOUNCE_CAP_MS is ${debounceCapMs}, less than SVC_DEBOUNCE_MS, ${debounceMs}: it must be at least that.`,
    );
  }
  const baseUrl = readBaseUrl(env) ?? `http://localhost:${port}`;
  const databaseUrl = url(
    env,
    "DATABASE_URL",
    ["postgres:", "postgresql:"],
    "postgresql://user:password@host:5432/name",
  );
  return Object.freeze({
    port,
    host: readHost(env),
    baseUrl,
    dataDir: readDataDir(env, databaseUrl),
    dashboardDir: resolve(project, text(env, "SVC_DASHBOARD_DIR") ?? "dist/web"),
    databaseUrl,
    secretKey: readSecretKey(env),
    allowPrivateTargets: readPrivateTargets(env),
    smtpUrl: url(env, "SVC_SMTP_URL", ["smtp:", "smtps:"], "smtp://user:password@host:587"),
    mailFrom: readMailFrom(env) ?? `Onlooker <onlooker@${new URL(baseUrl).hostname}>`,
    judge: readJudge(env),
    judgeDeadlineMs: integer(env, "SVC_JUDGE_DEADLINE_MS", 900_000, 0, 86_400_000),
    roles: readRoles(env),
    debounceMs,
    debounceCapMs,
    leaseMs: integer(env, "SVC_LEASE_MS", 30_000, 1_000, 3_600_000),
    evaluators: integer(env, "SVC_EVALUATORS", Math.min(4, Math.max(1, availableParallelism() - 1)), 1, 64),
    bounds: Object.freeze({
      bodyBytesMax: 31_457_280,
      nestingMax: integer(env, "SVC_NESTING_MAX", decodeLimits.nestingMax, 10, 1_000),
      requestSpansMax: integer(env, "SVC_REQUEST_SPANS_MAX", decodeLimits.spansMax, 1, 1_000_000),
      requestElementsMax: integer(
        env,
        "SVC_REQUEST_ELEMENTS_MAX",
        decodeLimits.elementsMax,
        1_000,
        20_000_000,
      ),
      traceSpansMax: integer(env, "SVC_TRACE_SPANS_MAX", 200_000, 1, 2_000_000),
      // The smallest bound still takes any single request; the largest is what one bytea can hold.
      traceBytesMax: integer(env, "SVC_TRACE_BYTES_MAX", 268_435_456, 31_457_280, 1_000_000_000),
    }),
    logLevel: oneOf(env, "SVC_LOG_LEVEL", logLevels) ?? "info",
    logFormat: oneOf(env, "SVC_LOG_FORMAT", logFormats) ?? (process.stdout.isTTY ? "text" : "json"),
  });
}

function readDataDir(env: Environment, databaseUrl: string | undefined): string {
  const given = text(env, "SVC_DATA_DIR");
  if (given !== undefined) return resolve(project, given);
  return databaseUrl === undefined ? defaultDataDir(project) : join(project, "data");
}

function text(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

function integer(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const value = text(env, name);
  if (value === undefined) return fallback;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new ConfigError(`${name} is ${shown(value)}: it must be a whole number from ${min} to ${max}.`);
}

function oneOf<T extends string>(env: Environment, name: string, allowed: readonly T[]): T | undefined {
  const value = text(env, name);
  if (value === undefined) return undefined;
  const found = allowed.find(word => word === value);
  if (found === undefined)
    throw new ConfigError(`${name} is ${shown(value)}: it must be one of ${allowed.join(", ")}.`);
  return found;
}

/** Its message never repeats the value: addresses of databases and mail servers carry passwords. */
function url(env: Environment, name: string, protocols: string[], example: string): string | undefined {
  const value = text(env, name);
  if (value === undefined) return undefined;
  const protocol = URL.parse(value)?.protocol;
  if (protocol !== undefined && protocols.includes(protocol)) return value;
  throw new ConfigError(`${name} is not an address this service can use: it must look like ${example}.`);
}

function readBaseUrl(env: Environment): string | undefined {
  const value = url(env, "SVC_BASE_URL", ["http:", "https:"], "https://onlooker.example.com");
  if (value === undefined) return undefined;
  const { origin, href } = new URL(value);
  if (href === `${origin}/`) return origin;
  throw new ConfigError(
    "SVC_BASE_URL holds more than an origin: it must look like https://onlooker.example.com, without path, query or user.",
  );
}

/** The default keeps a first start to this machine: sign-up is open and verification links are in the log. */
function readHost(env: Environment): string {
  const value = text(env, "SVC_HOST") ?? "127.0.0.1";
  if (/^[\w.:%-]+$/.test(value)) return value;
  throw new ConfigError(
    `SVC_HOST is ${shown(value)}: it must be an address or name to listen on, such as 127.0.0.1, 0.0.0.0 or ::.`,
  );
}

function readSecretKey(env: Environment): string | undefined {
  const value = text(env, "SVC_SECRET_KEY");
  if (value === undefined) return undefined;
  if (/^[\da-f]{64}$/i.test(value)) return value.toLowerCase();
  // Either alphabet of base64, padded or not.
  if (/^[\w+/-]{43}=?$/.test(value)) return Buffer.from(value, "base64").toString("hex");
  throw new ConfigError(
    "SVC_SECRET_KEY is not a key: it must be 32 bytes as base64 or as 64 hex digits, such as openssl rand -base64 32 prints.",
  );
}

// With the embedded database everything is on one machine, and so are the first agents that are tried.
const ownMachine = ["127.0.0.0/8", "::1"];

function readPrivateTargets(env: Environment): readonly string[] {
  const value = text(env, "SVC_ALLOW_PRIVATE_TARGETS");
  if (value === undefined) return Object.freeze(text(env, "DATABASE_URL") ? [] : ownMachine);
  if (value === "none") return Object.freeze([]);
  const targets = value.split(",").map(target => target.trim().toLowerCase());
  const wrong = targets.find(target => !isTarget(target));
  if (wrong === undefined) return Object.freeze(targets);
  throw new ConfigError(
    `SVC_ALLOW_PRIVATE_TARGETS holds ${shown(wrong)}: it must be none, or host names, addresses and networks such as agent.internal,10.0.0.7,10.1.0.0/16.`,
  );
}

function isTarget(target: string): boolean {
  if (ipaddr.isValidCIDR(target)) return true;
  // What looks like an address must be one in its usual form: 127.1 and 0x7f000001 would be taken for names.
  if (/^[\d.]+$|^0x|:|\//.test(target))
    return ipaddr.IPv4.isValidFourPartDecimal(target) || ipaddr.IPv6.isValid(target);
  return /^[a-z\d_]([a-z\d_-]*[a-z\d])?(\.[a-z\d_]([a-z\d_-]*[a-z\d])?)*$/.test(target);
}

function readMailFrom(env: Environment): string | undefined {
  const value = text(env, "SVC_MAIL_FROM");
  if (value === undefined || /^(?:[^<>\r\n]* ?<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value))
    return value;
  throw new ConfigError(
    `SVC_MAIL_FROM is ${shown(value)}: it must be an address, such as Onlooker <onlooker@example.com>.`,
  );
}

function readJudge(env: Environment): JudgeConfig | undefined {
  const provider = oneOf(env, "SVC_JUDGE_PROVIDER", judgeProviders);
  const address = readJudgeUrl(env);
  const model = text(env, "SVC_JUDGE_MODEL");
  const apiKey = text(env, "SVC_JUDGE_API_KEY");
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new ConfigError(
      "SVC_JUDGE_API_KEY is not a key: it holds a space or another character that no key has.",
    );
  }
  const bounds = {
    timeoutMs: integer(env, "SVC_JUDGE_TIMEOUT_MS", 30_000, 100, 600_000),
    concurrency: integer(env, "SVC_JUDGE_CONCURRENCY", 8, 1, 1_000),
    tokensPerMinute: readTokensPerMinute(env),
  };
  if (provider === undefined && address === undefined && model === undefined) return undefined;
  const judged = { provider: provider ?? "openai_compatible", url: address, model, apiKey };
  const [missing, why] = missingOf(judged) ?? [];
  if (missing !== undefined) throw new ConfigError(`${missing} is missing: ${why}.`);
  return Object.freeze({
    provider: judged.provider,
    url: address ?? null,
    model: model!,
    apiKey: apiKey ?? null,
    ...bounds,
  });
}

/** As projects may type it: a key in the address could not be sent, what follows its path would be lost. */
function readJudgeUrl(env: Environment): string | undefined {
  const value = url(env, "SVC_JUDGE_URL", ["http:", "https:"], "https://api.example.com/v1");
  if (value === undefined) return undefined;
  const { username, password, search, hash } = new URL(value);
  if (username === "" && password === "" && search === "" && hash === "") return value;
  throw new ConfigError(
    "SVC_JUDGE_URL holds more than an address: it must look like https://api.example.com/v1, without user, query or fragment; a key is SVC_JUDGE_API_KEY.",
  );
}

type Judged = {
  provider: JudgeProvider;
  url: string | undefined;
  model: string | undefined;
  apiKey: string | undefined;
};

function missingOf({ provider, url, model, apiKey }: Judged): [name: string, why: string] | undefined {
  if (model === undefined) {
    return [
      "SVC_JUDGE_MODEL",
      "a judge needs a model; without any SVC_JUDGE_ variable the service runs without one",
    ];
  }
  if (provider === "openai_compatible" && url === undefined) {
    return [
      "SVC_JUDGE_URL",
      "set it to a compatible server, or SVC_JUDGE_PROVIDER to openai, anthropic or google",
    ];
  }
  if (provider !== "openai_compatible" && url === undefined && apiKey === undefined) {
    return ["SVC_JUDGE_API_KEY", `${provider} takes no calls without a key`];
  }
  return undefined;
}

function readTokensPerMinute(env: Environment): number | null {
  const name = "SVC_JUDGE_TOKENS_PER_MINUTE";
  return text(env, name) === undefined ? null : integer(env, name, 0, 1_000, 1_000_000_000);
}

function readRoles(env: Environment): readonly Role[] {
  const value = text(env, "SVC_ROLES") ?? "http,worker";
  const words = new Set(value.split(",").map(word => word.trim()));
  const roles = (["http", "worker"] as const).filter(role => words.delete(role));
  if (words.size === 0) return Object.freeze(roles);
  throw new ConfigError(`SVC_ROLES is ${shown(value)}: it must be http, worker or http,worker.`);
}

/** A value for one line of text: quoted, control characters escaped, shortened. */
function shown(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
