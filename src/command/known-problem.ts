// Explains in one line why a command cannot use its configuration or its database, and what to do about it.

import { ConfigError } from "../config.ts";
import { EmbeddedError } from "../embedded/error.ts";
import { errorText } from "../log/error-text.ts";
import { UnfitDatabaseError } from "../store/connection/unfit-database.ts";
import { MasterKeyError } from "../store/secrets/master-key.ts";

const knownErrors = [ConfigError, EmbeddedError, UnfitDatabaseError, MasterKeyError];

/** Undefined for any other error, which is a bug. */
export function knownProblem(error: unknown): string | undefined {
  const { code, host, message = "" } = error as { code?: string; host?: string; message?: string };
  if (knownErrors.some(type => error instanceof type)) return message;
  // node-postgres gives it no code.
  if (message === "The server does not support SSL connections") {
    return "the database does not support TLS, which DATABASE_URL asks for. Turn on ssl in postgresql.conf, or set sslmode=disable.";
  }
  switch (code) {
    case "28000":
      return message.includes("pg_hba.conf") ? refusedByHost(message) : rejectedLogin(message);
    case "28P01":
      return rejectedLogin(message);
    case "3D000":
      return `the database does not exist (${message}). Create it, or check the name in DATABASE_URL.`;
    case "42501":
      return `the database user has too few privileges (${message}). Make it the owner of the database and of Onlooker's tables; in an empty database this suffices: grant create on schema public to …`;
    case "53300":
      return `the database has no free connection (${message}). Close connections of other programs, or raise its limit: max_connections in postgresql.conf, or that of the user or database in the message.`;
    case "ECONNREFUSED":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `the database cannot be reached (${errorText(error)}). Start it, or fix DATABASE_URL.`;
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return `the certificate of the database is not trusted (${withoutNodesAdvice(message)}). Add sslrootcert=/path/to/ca.pem to DATABASE_URL, with the certificate that signed it; sslmode=no-verify encrypts without checking it.`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `the certificate of the database is not for ${host}. Use the host of the certificate in DATABASE_URL, or have one issued for ${host}.`;
    case "CERT_HAS_EXPIRED":
      return "the certificate of the database has expired. Renew it.";
    default:
      return undefined;
  }
}

/** Newer versions of Node add a setting of their own to what is wrong. */
function withoutNodesAdvice(message: string): string {
  return message.replace(/; if the root CA is installed locally.*/, "");
}

function rejectedLogin(message: string): string {
  return `the database rejected the login (${message}). Check the user and password in DATABASE_URL.`;
}

/** A rule of pg_hba.conf, or the lack of one. */
function refusedByHost(message: string): string {
  const todo = message.endsWith("no encryption")
    ? "It may accept connections with TLS only: add sslmode=verify-full to DATABASE_URL. Otherwise, allow this host, user and database in pg_hba.conf."
    : "Allow this host, user and database in pg_hba.conf.";
  return `the database rejected the connection (${message}). ${todo}`;
}
