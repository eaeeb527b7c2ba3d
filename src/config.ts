// Reads the environment into one frozen Config, or says in one line which variable is wrong.
import { isIPv4 } from "node:net";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  type Environment,
  environment,
  type LogFormat,
  type LogLevel,
  type Pooler,
  type Role,
  variableNames,
} from "./config/environment.ts";
import { shown } from "./config/fields.ts";
import { isPackage, root } from "./config/package.ts";
import { defaultDataDir } from "./embedded/default-folder.ts";
import type { JudgeConnection } from "./model/judge/call.ts";
import { isOnlyThisMachine } from "./model/only-this-machine.ts";
import type { Quotas } from "./model/quotas.ts";

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
  /** The header in which they name the client, in lowercase. */
  readonly forwardedHeader: string;
  /** Undefined: emails are written to files in the outbox. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  /** Undefined: no judge, so semantic checks are skipped and routing is unavailable. */
  readonly judge: JudgeConfig | undefined;
  /** Timeout of one call of any judge. */
  readonly judgeTimeoutMs: number;
  /** Tokens of the judge above for one account and day; undefined: no limit. */
  readonly judgeAccountTokensPerDay: number | undefined;
  /** How long a run waits for the judge, retries included. */
  readonly judgeDeadlineMs: number;
  /** What an account with a verified email may have and store. */
  readonly quotas: Quotas;
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
  /** Of an account, to be evaluated automatically. */
  readonly pendingRunsMax: number;
  readonly logLevel: LogLevel;
  /** Absent from the environment: text where standard output is a terminal, else JSON. */
  readonly logFormat: LogFormat;
};

/** A variable is invalid. The message is one line for the operator and never shows a secret. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** The package is replaced by an upgrade, and so may npx's copy be at any time: its data is in the user's home. */
const ownDataDir = isPackage ? join(homedir(), ".onlooker") : join(root, "data");
// Where agents listen on a developer's machine.
const ownMachine = ["127.0.0.0/8", "::1"];

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
  if (databaseUrl !== undefined) requireKnownTls(variables["PGSSLMODE"]);
  const trustedProxies = env.SVC_TRUSTED_PROXIES ?? [];
  // Another process that shares the database may be public.
  const isOwn =
    databaseUrl === undefined && isOnlyThisMachine({ host: env.SVC_HOST, baseUrl, trustedProxies });
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
    allowPrivateTargets: env.SVC_ALLOW_PRIVATE_TARGETS ?? (isOwn ? ownMachine : []),
    trustedProxies,
    forwardedHeader: env.SVC_FORWARDED_HEADER,
    smtpUrl: env.SVC_SMTP_URL,
    mailFrom: env.SVC_MAIL_FROM ?? `Onlooker <onlooker@${mailDomainOf(baseUrl)}>`,
    judge: judgeOf(env),
    judgeTimeoutMs: env.SVC_JUDGE_TIMEOUT_MS,
    judgeAccountTokensPerDay: env.SVC_JUDGE_ACCOUNT_TOKENS_PER_DAY,
    judgeDeadlineMs: env.SVC_JUDGE_DEADLINE_MS,
    quotas: {
      projects: env.SVC_ACCOUNT_PROJECTS_MAX,
      agents: env.SVC_ACCOUNT_AGENTS_MAX,
      keys: env.SVC_ACCOUNT_KEYS_MAX,
      tests: env.SVC_ACCOUNT_TESTS_MAX,
      tokens: env.SVC_ACCOUNT_ACCESS_TOKENS_MAX,
      erasures: env.SVC_ACCOUNT_ERASURES_MAX,
      bytesPerDay: env.SVC_ACCOUNT_BYTES_PER_DAY,
    },
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
    pendingRunsMax: env.SVC_PENDING_RUNS_MAX,
    logLevel: env.SVC_LOG_LEVEL,
    logFormat: env.SVC_LOG_FORMAT,
  });
}

/** Variables that look like ours and are not read, such as a misspelled one. */
export function unknownVariables(variables: Readonly<Record<string, unknown>>): string[] {
  const known = new Set([...variableNames, "SVC_TOKEN"]);
  return Object.keys(variables).filter(
    name => name.startsWith("SVC_") && !name.startsWith("SVC_TEST_") && !known.has(name),
  );
}

const tlsModes = ["disable", "allow", "no-verify", "prefer", "require", "verify-ca", "verify-full"];

/** node-postgres connects without TLS if it does not know the mode. One that it does not know in a URL is verify-full to it. */
function requireKnownTls(mode: string | undefined): void {
  if (!mode || tlsModes.includes(mode)) return;
  throw new ConfigError(`PGSSLMODE is ${shown(mode)}: it must be one of ${tlsModes.join(", ")}.`);
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
  if ([given, url, model, apiKey].every(value => value === undefined)) return undefined;
  const provider = given ?? "openai_compatible";
  if (model === undefined) {
    throw new ConfigError(
      "SVC_JUDGE_MODEL is missing: a judge needs a model; without provider, URL, model and key the service runs without a judge.",
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

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}

/** In mail, IP addresses are written `[192.0.2.1]` and `[IPv6:2001:db8::1]` (RFC 5321, 4.1.3). */
function mailDomainOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return isIPv4(hostname) ? `[${hostname}]` : hostname.replace(/^\[/, "[IPv6:");
}
