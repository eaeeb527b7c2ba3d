// Types of the dependencies that every HTTP route gets.
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { defaultQuotas, type Quotas } from "../../model/quotas.ts";
import type { Mailer } from "../../remote/mail/mailer.ts";
import type { Database } from "../../store/db.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { Machine } from "./machine.ts";

export type Deps = {
  config: {
    /** The origin of links in emails and of the Origin check. Read per request: it is set once the port is known. */
    readonly baseUrl: string;
    /** Where the service listens. */
    readonly host?: string;
    /** Without one, emails are written to the outbox, and their links to the log. */
    readonly smtpUrl?: string | null | undefined;
    /** Addresses and networks of proxies whose `forwardedHeader` is believed. */
    readonly trustedProxies?: readonly string[];
    /** In lowercase. Default: x-forwarded-for. */
    readonly forwardedHeader?: string;
    /** Days after which traces of all projects are deleted; undefined: never. */
    readonly retentionDays?: number | undefined;
    /** What an account may have and store. Absent: by default. */
    readonly quotas?: Quotas;
  };
  db: Database;
  vault: Pick<Vault, "hash">;
  mailer: Pick<Mailer, "send" | "forget">;
  log: FastifyBaseLogger;
  /** Whether to rate-limit sign-up, sign-in and resets by account and client IP address. Default: true. */
  limitAccounts?: boolean;
  /** Absent: this process shares its machine with no other. */
  machine?: Machine | undefined;
  /** Default: scrypt. Tests create thousands of accounts, so they pass a cheap hash. */
  passwordHashing?: PasswordHashing | undefined;
};

export const quotasOf = ({ quotas }: Deps["config"]): Quotas => quotas ?? defaultQuotas;

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Adds routes to the app. */
export type Register<D extends Deps = Deps> = (app: App, deps: D) => void | Promise<void>;

export type PasswordHashing = {
  hash(password: string): Promise<string>;
  verify(given: { hash: string; password: string }): Promise<boolean>;
};
