// The error that ends a start or a command because of the database, with what to change.

/** The database is unusable: the server is too old, the encoding is not UTF8, a newer version migrated it, or similar. */
export class UnfitDatabaseError extends Error {
  override name = "UnfitDatabaseError";
}
