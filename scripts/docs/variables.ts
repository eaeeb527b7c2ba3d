// Generates the table of environment variables. Names, and most defaults and accepted values, come from the config.
import { variableNames } from "../../src/config/environment.ts";
import { ConfigError, readConfig } from "../../src/config.ts";
import { code, table } from "./table.ts";

type Described = { about: string; default?: string; accepts?: string };

/** Descriptions. A default is given here if the config's depends on the machine or is undefined. */
const described: Record<string, Described> = {
  PORT: { about: "The port to listen on. 0 takes any free one." },
  SVC_HOST: {
    about:
      "The address to listen on. `0.0.0.0` opens the service to the network; see [Deploying](deploying.md).",
    default: "`127.0.0.1`",
    accepts: "an IP address or a host name",
  },
  SVC_BASE_URL: {
    about:
      "The origin that users and exporters reach: used in links and emails. With https, cookies are `Secure`.",
    default: "`http://localhost:PORT`",
    accepts: "an origin, such as `https://onlooker.example.com`",
  },
  SVC_DATA_DIR: {
    about: "Holds the embedded database, `outbox/` and `secret.key`.",
    default:
      "`data` in the checkout, `~/.onlooker` for the npm package; see [the embedded database](operating.md#the-embedded-database)",
    accepts: "a folder",
  },
  SVC_DASHBOARD_DIR: {
    about:
      "The built dashboard. `npm start` builds it into `SVC_DATA_DIR` for a user who cannot write to the checkout.",
    default: "`dist/web`",
    accepts: "a folder",
  },
  DATABASE_URL: {
    about: "A PostgreSQL 15 or newer of your own.",
    default: "the embedded PostgreSQL",
    accepts:
      "`postgresql://user:password@host:5432/name`, or [several servers](deploying.md#failover): `a:5432,b:5432`; with [TLS](deploying.md#tls-to-the-database): `?sslmode=verify-full`",
  },
  SVC_DATABASE_POOLER: {
    about:
      "`transaction`: `DATABASE_URL` leads to a [pooler](deploying.md#behind-a-pooler) such as PgBouncer that pools transactions.",
  },
  SVC_DATABASE_DIRECT_URL: {
    about: "The PostgreSQL behind the pooler: for migrations, locks and live updates.",
    default: "none; required with `SVC_DATABASE_POOLER=transaction`",
    accepts: "as `DATABASE_URL`",
  },
  SVC_SECRET_KEY: {
    about:
      "Encrypts [stored secrets](backup.md#secretkey). The same for all processes that share a database.",
    default: "`secret.key` in the data folder",
    accepts: "32 bytes as base64 or 64 hex digits: `openssl rand -base64 32`",
  },
  SVC_ALLOW_PRIVATE_TARGETS: {
    about:
      "Private addresses that users may connect as [agents](manual-runs.md#which-urls-are-called) or judges.",
    default:
      "`127.0.0.0/8,::1` with the embedded database, if [only this machine](deploying.md#only-this-machine) reaches the service; else `none`",
    accepts: "`none` or nothing, or hosts, IP addresses and networks, separated by commas",
  },
  SVC_TRUSTED_PROXIES: {
    about: "The [proxies](deploying.md#behind-a-proxy) in front of Onlooker, whose header names the client.",
    default: "none",
    accepts: "IP addresses and networks, separated by commas",
  },
  SVC_FORWARDED_HEADER: {
    about:
      "The header in which these proxies name the client, the only one that is read: each of them must set it or append to it.",
    default: "`X-Forwarded-For`",
    accepts: "the name of a header, such as `Forwarded` or `CF-Connecting-IP`",
  },
  SVC_SMTP_URL: {
    about:
      "The mail server. Without one, emails are files in `outbox/` and their links are printed in the log; [alerts](alerts.md) are not emailed.",
    default: "none",
    accepts: "`smtp://user:password@host:587`, or `smtps://`",
  },
  SVC_MAIL_FROM: {
    about: "The sender of emails.",
    default: "`Onlooker <onlooker@HOST>`",
    accepts: "`Name <address>`",
  },
  SVC_JUDGE_PROVIDER: {
    about: "The provider of the [judge](judging.md) for projects without their own.",
    default: "`openai_compatible`",
  },
  SVC_JUDGE_URL: {
    about: "The judge's base URL. Required for `openai_compatible` (Ollama, LM Studio, vLLM, llama.cpp).",
    default: "the provider's own",
    accepts: "a URL, such as `http://127.0.0.1:11434/v1`",
  },
  SVC_JUDGE_MODEL: { about: "The judge's model.", default: "no judge", accepts: "a model's name" },
  SVC_JUDGE_API_KEY: { about: "The judge's API key.", default: "none", accepts: "a key" },
  SVC_JUDGE_TIMEOUT_MS: { about: "Timeout of one call, of projects' own judges too.", default: "`60000`" },
  SVC_JUDGE_CONCURRENCY: { about: "Concurrent judge calls, per machine.", default: "`8`" },
  SVC_JUDGE_TOKENS_PER_MINUTE: {
    about: "Tokens per minute, input and output together, per machine.",
    default: "no limit",
  },
  SVC_JUDGE_ACCOUNT_TOKENS_PER_DAY: {
    about:
      "Tokens of this judge for one account and day (UTC). Beyond them, checks that need it are skipped with the reason; judges of projects' own are not counted.",
    default: "no limit",
  },
  SVC_JUDGE_DEADLINE_MS: {
    about: "How long a run waits for an unavailable judge, from its first question. 0: no waiting.",
  },
  SVC_ACCOUNT_PROJECTS_MAX: {
    about: "Projects of an account; [few](limits.md#an-account) until its email is verified.",
  },
  SVC_ACCOUNT_AGENTS_MAX: { about: "Agents of an account." },
  SVC_ACCOUNT_KEYS_MAX: { about: "Keys of an account." },
  SVC_ACCOUNT_TESTS_MAX: { about: "Tests of an account." },
  SVC_ACCOUNT_ACCESS_TOKENS_MAX: { about: "Access tokens of an account." },
  SVC_ACCOUNT_ERASURES_MAX: { about: "Erasures of an account, with the dry runs of the last hour." },
  SVC_ACCOUNT_BYTES_PER_DAY: {
    about:
      "Bytes that an account may store in a day (UTC): traces and log records as sent, decompressed, requests of more than 64 KB, and the inputs of test runs.",
  },
  SVC_ROLES: {
    about: "`http` receives traces and serves the dashboard, `worker` evaluates.",
    default: "`http,worker`",
  },
  SVC_DEBOUNCE_MS: { about: "How long evaluation waits for further OTLP batches, from the latest one." },
  SVC_DEBOUNCE_CAP_MS: { about: "The maximum of that wait, from the first batch." },
  SVC_RETENTION_DAYS: {
    about:
      "Traces of all projects are deleted this many days after they arrived; [a project's own time](privacy.md#retention) may be shorter.",
    default: "traces are kept",
  },
  SVC_LEASE_MS: { about: "How long a worker may be silent before another takes over its runs." },
  SVC_HTTP_PROCESSES: {
    about:
      "[Processes](operating.md#processes-and-cores) that serve HTTP on the port. With 1, there is a single process.",
    default: "cores − 1, at least 1, and as many as the database has connections for",
  },
  SVC_DATABASE_CONNECTIONS: {
    about:
      "Connections to the database that all processes of this machine may have. A single process, or a worker alone, only warns if they are too few. Set it where machines share a database.",
    default: "what the database allows, without 10 for others",
  },
  SVC_EVALUATORS: { about: "Threads that evaluate, on this machine.", default: "cores − 1, from 1 to 4" },
  SVC_NESTING_MAX: { about: "Levels of nesting in one request." },
  SVC_REQUEST_SPANS_MAX: { about: "Spans in one request." },
  SVC_REQUEST_TRACES_MAX: { about: "Traces in one OTLP request." },
  SVC_REQUEST_ELEMENTS_MAX: { about: "Values in one request: JSON objects, lists and their entries." },
  SVC_TRACE_SPANS_MAX: { about: "Spans in one merged trace." },
  SVC_TRACE_BYTES_MAX: { about: "Bytes in one merged trace." },
  SVC_PENDING_RUNS_MAX: {
    about:
      "Traces of one account that may wait to be evaluated; while there are as many, further requests are 429.",
  },
  SVC_LOG_LEVEL: { about: "The minimum level of log lines." },
  SVC_LOG_FORMAT: {
    about: "`json`: one JSON object per line, for a log collector.",
    default: "`text` on a terminal, else `json`",
  },
};

/** Defaults that the config has in the form in which they are written in the environment. */
const defaults: Record<string, unknown> = (() => {
  const config = readConfig({});
  return {
    PORT: config.port,
    SVC_DATABASE_POOLER: config.databasePooler,
    SVC_JUDGE_DEADLINE_MS: config.judgeDeadlineMs,
    SVC_DEBOUNCE_MS: config.debounceMs,
    SVC_DEBOUNCE_CAP_MS: config.debounceCapMs,
    SVC_ACCOUNT_PROJECTS_MAX: config.quotas.projects,
    SVC_ACCOUNT_AGENTS_MAX: config.quotas.agents,
    SVC_ACCOUNT_KEYS_MAX: config.quotas.keys,
    SVC_ACCOUNT_TESTS_MAX: config.quotas.tests,
    SVC_ACCOUNT_ACCESS_TOKENS_MAX: config.quotas.tokens,
    SVC_ACCOUNT_ERASURES_MAX: config.quotas.erasures,
    SVC_ACCOUNT_BYTES_PER_DAY: config.quotas.bytesPerDay,
    SVC_LEASE_MS: config.leaseMs,
    SVC_NESTING_MAX: config.bounds.nestingMax,
    SVC_REQUEST_SPANS_MAX: config.bounds.requestSpansMax,
    SVC_REQUEST_TRACES_MAX: config.bounds.requestTracesMax,
    SVC_REQUEST_ELEMENTS_MAX: config.bounds.requestElementsMax,
    SVC_TRACE_SPANS_MAX: config.bounds.traceSpansMax,
    SVC_TRACE_BYTES_MAX: config.bounds.traceBytesMax,
    SVC_PENDING_RUNS_MAX: config.pendingRunsMax,
    SVC_LOG_LEVEL: config.logLevel,
  };
})();

export function variableTable(): string {
  const unknown = Object.keys(described).filter(name => !variableNames.includes(name));
  if (unknown.length > 0) throw new Error(`The config does not read: ${unknown.join(", ")}`);
  const order = Object.keys(described);
  const rows = variableNames
    .toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
    .map(name => {
      const entry = described[name];
      if (!entry) throw new Error(`scripts/docs/variables.ts does not describe ${name}`);
      const value = entry.default ?? defaults[name];
      if (value === undefined) throw new Error(`scripts/docs/variables.ts has no default for ${name}`);
      return [
        code(name),
        entry.default ?? code(String(value)),
        entry.accepts ?? acceptedBy(name),
        entry.about,
      ];
    });
  return table(["Variable", "Default", "Accepts", "What it does"], rows);
}

/** Taken from the error message for an invalid value: "a whole number from 0 to 65535". */
function acceptedBy(name: string): string {
  try {
    readConfig({ SVC_JUDGE_URL: "http://localhost/v1", SVC_JUDGE_MODEL: "m", [name]: "~" });
  } catch (error) {
    const accepted = /: it must be (.*)\.$/.exec((error as Error).message)?.[1];
    if (error instanceof ConfigError && accepted) {
      return accepted.replace(/^one of (.*)$/, (_, words: string) => words.split(", ").map(code).join(", "));
    }
  }
  throw new Error(`scripts/docs/variables.ts must say what ${name} accepts`);
}
