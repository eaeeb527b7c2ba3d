// The environment becomes a Config, or one line that names the wrong variable.
import assert from "node:assert/strict";
import { isAbsolute } from "node:path";
import { test } from "node:test";
import { ConfigError, readConfig, unknownVariables } from "../src/config.ts";
import { defaultQuotas } from "../src/model/quotas.ts";

const database = { DATABASE_URL: "postgresql://u:hidden@pooler/x" };

test("an empty environment gives a service on this machine with the embedded database and no judge", () => {
  const { dataDir, dashboardDir, evaluators, ...config } = readConfig({});
  assert.ok(isAbsolute(dataDir));
  assert.match(dashboardDir, /^\/.*\/dist\/web$/);
  assert.match(readConfig({ DATABASE_URL: "postgres://u:p@db/x" }).dataDir, /\/data$/);
  assert.ok(evaluators >= 1);
  assert.deepEqual(config, {
    port: 4000,
    host: "127.0.0.1",
    baseUrl: "http://localhost:4000",
    databaseUrl: undefined,
    databasePooler: "none",
    databaseDirectUrl: undefined,
    secretKey: undefined,
    allowPrivateTargets: ["127.0.0.0/8", "::1"],
    trustedProxies: [],
    forwardedHeader: "x-forwarded-for",
    smtpUrl: undefined,
    mailFrom: "Onlooker <onlooker@localhost>",
    judge: undefined,
    judgeTimeoutMs: 60_000,
    judgeAccountTokensPerDay: undefined,
    judgeDeadlineMs: 900_000,
    quotas: defaultQuotas,
    roles: ["http", "worker"],
    debounceMs: 5_000,
    debounceCapMs: 60_000,
    retentionDays: undefined,
    leaseMs: 30_000,
    httpProcesses: undefined,
    databaseConnections: undefined,
    bounds: {
      bodyBytesMax: 31_457_280,
      nestingMax: 200,
      requestSpansMax: 100_000,
      requestTracesMax: 10_000,
      requestElementsMax: 2_000_000,
      traceSpansMax: 200_000,
      traceBytesMax: 268_435_456,
    },
    pendingRunsMax: 200_000,
    logLevel: "info",
    logFormat: process.stdout.isTTY ? "text" : "json",
  });
});

test("every variable is read", () => {
  const config = readConfig({
    PORT: "8080",
    SVC_HOST: "::",
    SVC_BASE_URL: "https://onlooker.example.com/",
    SVC_DATA_DIR: "/var/lib/onlooker",
    SVC_DASHBOARD_DIR: "/var/cache/onlooker",
    DATABASE_URL: "postgresql://u:p@db/onlooker",
    SVC_DATABASE_POOLER: "transaction",
    SVC_DATABASE_DIRECT_URL: "postgresql://u:p@a:5432,b/onlooker?target_session_attrs=read-write",
    SVC_SECRET_KEY: "AB".repeat(32),
    SVC_ALLOW_PRIVATE_TARGETS: "Agent.internal, 10.0.0.7,10.1.0.0/16,fd00::/8",
    SVC_TRUSTED_PROXIES: "127.0.0.1, fd00::/8",
    SVC_FORWARDED_HEADER: "CF-Connecting-IP",
    SVC_SMTP_URL: "smtps://u:p@mail.example.com",
    SVC_MAIL_FROM: "Watch <watch@example.com>",
    SVC_JUDGE_PROVIDER: "anthropic",
    SVC_JUDGE_URL: "https://judge.example.com/v1",
    SVC_JUDGE_MODEL: "small",
    SVC_JUDGE_API_KEY: "secret",
    SVC_JUDGE_TIMEOUT_MS: "1000",
    SVC_JUDGE_CONCURRENCY: "2",
    SVC_JUDGE_TOKENS_PER_MINUTE: "50000",
    SVC_JUDGE_ACCOUNT_TOKENS_PER_DAY: "2000000",
    SVC_JUDGE_DEADLINE_MS: "60000",
    SVC_ACCOUNT_PROJECTS_MAX: "1",
    SVC_ACCOUNT_AGENTS_MAX: "2",
    SVC_ACCOUNT_KEYS_MAX: "3",
    SVC_ACCOUNT_TESTS_MAX: "4",
    SVC_ACCOUNT_ACCESS_TOKENS_MAX: "5",
    SVC_ACCOUNT_ERASURES_MAX: "6",
    SVC_ACCOUNT_BYTES_PER_DAY: "7",
    SVC_ROLES: " worker ",
    SVC_DEBOUNCE_MS: "100",
    SVC_DEBOUNCE_CAP_MS: "200",
    SVC_RETENTION_DAYS: "30",
    SVC_LEASE_MS: "2000",
    SVC_EVALUATORS: "3",
    SVC_HTTP_PROCESSES: "2",
    SVC_DATABASE_CONNECTIONS: "50",
    SVC_NESTING_MAX: "50",
    SVC_REQUEST_SPANS_MAX: "10",
    SVC_REQUEST_TRACES_MAX: "5",
    SVC_REQUEST_ELEMENTS_MAX: "5000",
    SVC_TRACE_SPANS_MAX: "20",
    SVC_TRACE_BYTES_MAX: "40000000",
    SVC_PENDING_RUNS_MAX: "30",
    SVC_LOG_LEVEL: "debug",
    SVC_LOG_FORMAT: "text",
  });
  assert.deepEqual(config, {
    port: 8080,
    host: "::",
    baseUrl: "https://onlooker.example.com",
    dataDir: "/var/lib/onlooker",
    dashboardDir: "/var/cache/onlooker",
    databaseUrl: "postgresql://u:p@db/onlooker",
    databasePooler: "transaction",
    databaseDirectUrl: "postgresql://u:p@a:5432,b/onlooker?target_session_attrs=read-write",
    secretKey: "ab".repeat(32),
    allowPrivateTargets: ["agent.internal", "10.0.0.7", "10.1.0.0/16", "fd00::/8"],
    trustedProxies: ["127.0.0.1", "fd00::/8"],
    forwardedHeader: "cf-connecting-ip",
    smtpUrl: "smtps://u:p@mail.example.com",
    mailFrom: "Watch <watch@example.com>",
    judge: {
      provider: "anthropic",
      url: "https://judge.example.com/v1",
      model: "small",
      apiKey: "secret",
      timeoutMs: 1000,
      concurrency: 2,
      tokensPerMinute: 50_000,
    },
    judgeTimeoutMs: 1000,
    judgeAccountTokensPerDay: 2_000_000,
    judgeDeadlineMs: 60_000,
    quotas: { projects: 1, agents: 2, keys: 3, tests: 4, tokens: 5, erasures: 6, bytesPerDay: 7 },
    roles: ["worker"],
    debounceMs: 100,
    debounceCapMs: 200,
    retentionDays: 30,
    leaseMs: 2000,
    evaluators: 3,
    httpProcesses: 2,
    databaseConnections: 50,
    bounds: {
      bodyBytesMax: 31_457_280,
      nestingMax: 50,
      requestSpansMax: 10,
      requestTracesMax: 5,
      requestElementsMax: 5_000,
      traceSpansMax: 20,
      traceBytesMax: 40_000_000,
    },
    pendingRunsMax: 30,
    logLevel: "debug",
    logFormat: "text",
  });
});

test("an empty or blank variable counts as absent", () => {
  const blank = { PORT: "", DATABASE_URL: "  ", SVC_JUDGE_URL: "", SVC_JUDGE_MODEL: " ", SVC_ROLES: "" };
  assert.deepEqual(readConfig(blank), readConfig({}));
});

test("a Config cannot be changed, at any depth", () => {
  const config = readConfig({ SVC_JUDGE_URL: "http://localhost:1/v1", SVC_JUDGE_MODEL: "m" });
  for (const part of [config, config.bounds, config.judge, config.roles, config.allowPrivateTargets])
    assert.ok(Object.isFrozen(part));
});

test("the key for secrets may be hex, base64 or base64url", () => {
  const bytes = Buffer.alloc(32, 0xfb);
  for (const encoding of ["base64", "base64url", "hex"] as const) {
    assert.equal(readConfig({ SVC_SECRET_KEY: bytes.toString(encoding) }).secretKey, "fb".repeat(32));
  }
});

test("the URL of a judge may have a query", () => {
  const url = "http://localhost:1/v1?api-version=1";
  assert.equal(readConfig({ SVC_JUDGE_URL: url, SVC_JUDGE_MODEL: "m" }).judge!.url, url);
});

test("every judge has the same timeout, a minute by default", () => {
  const judge = { SVC_JUDGE_URL: "http://localhost:1/v1", SVC_JUDGE_MODEL: "m" };
  for (const [given, ms] of [
    [{}, 60_000],
    [{ SVC_JUDGE_TIMEOUT_MS: "5000" }, 5_000],
  ] as const) {
    const config = readConfig({ ...judge, ...given });
    assert.deepEqual([config.judge!.timeoutMs, config.judgeTimeoutMs], [ms, ms]);
  }
});

test("loopback may be called by default only where nobody but this machine reaches the service", () => {
  const reached = { SVC_HOST: "::1", SVC_BASE_URL: "http://127.0.0.1:4000" };
  assert.deepEqual(readConfig(reached).allowPrivateTargets, ["127.0.0.0/8", "::1"]);
  for (const more of [
    { SVC_HOST: "0.0.0.0" },
    { SVC_HOST: "onlooker.internal" },
    { SVC_BASE_URL: "https://onlooker.example.com" },
    { SVC_TRUSTED_PROXIES: "127.0.0.1" },
  ]) {
    assert.deepEqual(readConfig({ ...reached, ...more }).allowPrivateTargets, [], JSON.stringify(more));
  }
});

test("with an external database, or with the value none or no value, no private target is allowed", () => {
  assert.deepEqual(readConfig({ DATABASE_URL: "postgres://u:p@db/x" }).allowPrivateTargets, []);
  for (const value of ["none", "", " "]) {
    assert.deepEqual(readConfig({ SVC_ALLOW_PRIVATE_TARGETS: value }).allowPrivateTargets, []);
  }
});

test("a judge provider needs a model and a key, and no URL", () => {
  const { judge } = readConfig({
    SVC_JUDGE_PROVIDER: "openai",
    SVC_JUDGE_MODEL: "m",
    SVC_JUDGE_API_KEY: "secret",
  });
  assert.deepEqual([judge?.provider, judge?.url, judge?.tokensPerMinute], ["openai", null, null]);
});

test("PGSSLMODE may be any that PostgreSQL's tools or node-postgres know, and is not read for the embedded database", () => {
  for (const mode of ["", "disable", "allow", "no-verify", "prefer", "require", "verify-ca", "verify-full"]) {
    assert.equal(readConfig({ ...database, PGSSLMODE: mode }).databaseUrl, database.DATABASE_URL);
  }
  assert.equal(readConfig({ PGSSLMODE: "verify_full" }).databaseUrl, undefined);
});

test("a longer debounce also raises the default cap", () => {
  assert.equal(readConfig({ SVC_DEBOUNCE_MS: "90000" }).debounceCapMs, 90_000);
});

const wrong: [variable: string, env: Record<string, string>][] = [
  ["PORT", { PORT: "65536" }],
  ["PORT", { PORT: "4e3" }],
  ["PORT", { PORT: "-1" }],
  ["SVC_HOST", { SVC_HOST: "http://localhost" }],
  ["SVC_BASE_URL", { SVC_BASE_URL: "onlooker.example.com" }],
  ["SVC_BASE_URL", { SVC_BASE_URL: "https://example.com/onlooker" }],
  ["SVC_BASE_URL", { SVC_BASE_URL: "https://u:hidden@example.com" }],
  ["DATABASE_URL", { DATABASE_URL: "mysql://u:hidden@db/x" }],
  ["DATABASE_URL", { DATABASE_URL: "host=db password=hidden" }],
  ["DATABASE_URL", { DATABASE_URL: "postgresql://u:hidden@a,,b/x" }],
  ["DATABASE_URL", { DATABASE_URL: "postgresql://u:hidden@a,b/x?target_session_attrs=any" }],
  ["DATABASE_URL", { DATABASE_URL: "postgresql://u:hidden@a/x?target_session_attrs=standby" }],
  ["PGSSLMODE", { ...database, PGSSLMODE: "verify_full" }],
  ["PGSSLMODE", { ...database, PGSSLMODE: "REQUIRE" }],
  ["SVC_DATABASE_POOLER", { ...database, SVC_DATABASE_POOLER: "session" }],
  ["SVC_DATABASE_POOLER", { SVC_DATABASE_POOLER: "transaction" }],
  ["SVC_DATABASE_DIRECT_URL", { ...database, SVC_DATABASE_POOLER: "transaction" }],
  ["SVC_DATABASE_DIRECT_URL", { ...database, SVC_DATABASE_DIRECT_URL: "postgresql://u:hidden@db/x" }],
  ["SVC_DATABASE_DIRECT_URL", { ...database, SVC_DATABASE_DIRECT_URL: "mysql://u:hidden@db/x" }],
  ["SVC_SECRET_KEY", { SVC_SECRET_KEY: "hidden" }],
  ["SVC_SECRET_KEY", { SVC_SECRET_KEY: "hidden".repeat(11) }],
  ["SVC_ALLOW_PRIVATE_TARGETS", { SVC_ALLOW_PRIVATE_TARGETS: "http://agent.internal" }],
  ["SVC_ALLOW_PRIVATE_TARGETS", { SVC_ALLOW_PRIVATE_TARGETS: "agent.internal:8080" }],
  ["SVC_ALLOW_PRIVATE_TARGETS", { SVC_ALLOW_PRIVATE_TARGETS: "10.0.0.0/33" }],
  ["SVC_ALLOW_PRIVATE_TARGETS", { SVC_ALLOW_PRIVATE_TARGETS: "127.1" }],
  ["SVC_ALLOW_PRIVATE_TARGETS", { SVC_ALLOW_PRIVATE_TARGETS: "agent.internal,,none" }],
  ["SVC_TRUSTED_PROXIES", { SVC_TRUSTED_PROXIES: "127.0.0.1,proxy.internal" }],
  ["SVC_TRUSTED_PROXIES", { SVC_TRUSTED_PROXIES: "10.0.0.0/33" }],
  ["SVC_FORWARDED_HEADER", { SVC_FORWARDED_HEADER: "X-Forwarded-For, Forwarded" }],
  ["SVC_SMTP_URL", { SVC_SMTP_URL: "u:hidden@mail" }],
  ["SVC_SMTP_URL", { SVC_SMTP_URL: "smtp:mail.example.com:587" }],
  ["SVC_SMTP_URL", { SVC_SMTP_URL: "smtps://" }],
  ["SVC_MAIL_FROM", { SVC_MAIL_FROM: "onlooker" }],
  ["SVC_MAIL_FROM", { SVC_MAIL_FROM: "a@b.c\nBcc: d@e.f" }],
  ["SVC_JUDGE_URL", { SVC_JUDGE_URL: "localhost:11434", SVC_JUDGE_MODEL: "m" }],
  ["SVC_JUDGE_URL", { SVC_JUDGE_URL: "http://me:hidden@localhost:1/v1", SVC_JUDGE_MODEL: "m" }],
  ["SVC_JUDGE_URL", { SVC_JUDGE_URL: "http://localhost:1/v1#part", SVC_JUDGE_MODEL: "m" }],
  [
    "SVC_JUDGE_API_KEY",
    { SVC_JUDGE_URL: "http://localhost:1/v1", SVC_JUDGE_MODEL: "m", SVC_JUDGE_API_KEY: "hidden\nkey" },
  ],
  ["SVC_JUDGE_MODEL", { SVC_JUDGE_URL: "http://localhost:1/v1", SVC_JUDGE_API_KEY: "hidden" }],
  ["SVC_JUDGE_URL", { SVC_JUDGE_MODEL: "m", SVC_JUDGE_API_KEY: "hidden" }],
  ["SVC_JUDGE_MODEL", { SVC_JUDGE_PROVIDER: "openai", SVC_JUDGE_API_KEY: "hidden" }],
  ["SVC_JUDGE_MODEL", { SVC_JUDGE_API_KEY: "hidden" }],
  ["SVC_JUDGE_API_KEY", { SVC_JUDGE_PROVIDER: "google", SVC_JUDGE_MODEL: "m" }],
  ["SVC_JUDGE_PROVIDER", { SVC_JUDGE_PROVIDER: "azure", SVC_JUDGE_MODEL: "m" }],
  ["SVC_JUDGE_TOKENS_PER_MINUTE", { SVC_JUDGE_TOKENS_PER_MINUTE: "0" }],
  ["SVC_JUDGE_DEADLINE_MS", { SVC_JUDGE_DEADLINE_MS: "15m" }],
  ["SVC_JUDGE_TIMEOUT_MS", { SVC_JUDGE_TIMEOUT_MS: "30s" }],
  ["SVC_JUDGE_CONCURRENCY", { SVC_JUDGE_CONCURRENCY: "0" }],
  ["SVC_ROLES", { SVC_ROLES: "http,cron" }],
  ["SVC_ROLES", { SVC_ROLES: "," }],
  ["SVC_DEBOUNCE_MS", { SVC_DEBOUNCE_MS: "5 s" }],
  ["SVC_DEBOUNCE_CAP_MS", { SVC_DEBOUNCE_MS: "100", SVC_DEBOUNCE_CAP_MS: "99" }],
  ["SVC_RETENTION_DAYS", { SVC_RETENTION_DAYS: "0" }],
  ["SVC_LEASE_MS", { SVC_LEASE_MS: "10" }],
  ["SVC_EVALUATORS", { SVC_EVALUATORS: "0" }],
  ["SVC_NESTING_MAX", { SVC_NESTING_MAX: "0" }],
  ["SVC_TRACE_BYTES_MAX", { SVC_TRACE_BYTES_MAX: "1e9" }],
  ["SVC_LOG_FORMAT", { SVC_LOG_FORMAT: "pretty" }],
  ["SVC_LOG_LEVEL", { SVC_LOG_LEVEL: "verbose" }],
];

test("variables with our prefix that are not read are named, and those of the commands and tests are not", () => {
  const env = {
    SVC_RETENTION_DAY: "30",
    SVC_RETENTION_DAYS: "30",
    SVC_TOKEN: "t",
    SVC_TEST_X: "1",
    SVCX: "1",
  };
  assert.deepEqual(unknownVariables(env), ["SVC_RETENTION_DAY"]);
});

for (const [variable, env] of wrong) {
  test(`${JSON.stringify(env)} is refused in one line that starts with ${variable}`, () => {
    assert.throws(
      () => readConfig(env),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        assert.ok(error.message.startsWith(`${variable} `), error.message);
        assert.doesNotMatch(error.message, /\n|hidden/);
        return true;
      },
    );
  });
}

test("the default sender at an IP address is an address literal of mail", () => {
  const senderAt = (host: string) => readConfig({ SVC_BASE_URL: `http://${host}:4000` }).mailFrom;
  assert.equal(senderAt("[2001:db8::1]"), "Onlooker <onlooker@[IPv6:2001:db8::1]>");
  assert.equal(senderAt("192.0.2.1"), "Onlooker <onlooker@[192.0.2.1]>");
});
