// What the HTTP rooms are given: the types of everything that main.ts wires into them.
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { Mailer } from "../remote/mail/mailer.ts";
import type { Database } from "../store/db.ts";
import type { PasswordHashing } from "./accounts/passwords.ts";

export type Deps = {
  config: {
    /** The origin that links in mails and the Origin check go by. Read when it is needed, not when the app is built. */
    readonly baseUrl: string;
    /** None: mails wait in the outbox, and their links are in the log. */
    readonly smtpUrl?: string | null | undefined;
  };
  db: Database;
  mailer: Pick<Mailer, "send">;
  log: FastifyBaseLogger;
  /** Whether sign-up, sign-in and resets are limited by client address; on unless it is false. */
  limitAccounts?: boolean;
  /** Absent: scrypt. Tests, which create thousands of accounts, bring a cheap one. */
  passwordHashing?: PasswordHashing | undefined;
};

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Adds a room's routes to the app. */
export type Register<D extends Deps = Deps> = (app: App, deps: D) => void | Promise<void>;
