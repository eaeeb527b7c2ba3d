// Checks at start that the certificates and keys that a PostgreSQL URL names can be read: every connection reads them.
import { accessSync, constants } from "node:fs";
import { readDatabaseUrl } from "./database-url.ts";
import { UnfitDatabaseError } from "./unfit-database.ts";

/** Throws UnfitDatabaseError. */
export function requireCertificates(url: string): void {
  const { searchParams } = new URL(readDatabaseUrl(url)?.servers[0] ?? "none:");
  for (const name of ["sslrootcert", "sslcert", "sslkey"]) {
    const path = searchParams.get(name);
    if (!path) continue;
    try {
      accessSync(path, constants.R_OK);
    } catch (error) {
      const { message } = error as Error;
      throw new UnfitDatabaseError(
        `The file of ${name} in the URL of the database cannot be read (${message}). Fix its path or its permissions.`,
      );
    }
  }
}
