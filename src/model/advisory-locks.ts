// The ids of all advisory locks, in one place so that no two are the same and no kind of work blocks another.

/** Of `pg_advisory_lock` and its siblings. The numbers mean nothing; other programs use small ones. */
export const advisoryLocks = {
  /** One start at a time applies the schema, and `svc scale init` and `svc restore` let none begin. */
  schema: 4_826_170_391,
  /** Manual runs are claimed one after the other. */
  manualClaims: 4_826_170_392,
  /** Transactions that write to the reference tables of a cluster. */
  referenceTables: 4_826_170_394,
  /** One bootstrap at a time. */
  bootstrap: 4_826_170_395,
  /** Held by the process that runs the embedded PostgreSQL. */
  embeddedOwner: 4_826_170_396,
} as const;

/** Of locks of one row or name each: the second argument of `hashtextextended(text, seed)`. */
export const advisoryLockSeeds = {
  /** By project. */
  runningErasures: 5,
  /** By group of shards, in groups.sql. */
  shardNames: 12,
  /** By agent. */
  unfinishedLaunches: 20,
  /** By trace. */
  tracesOfRuns: 27,
} as const;
