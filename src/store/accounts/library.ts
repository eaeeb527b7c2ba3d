// The database as the accounts library (better-auth) takes it; everything else in this room is SQL of our own.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type OperationNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  TableNode,
} from "kysely";
import { referenceQuery } from "../cluster/references.ts";
import type { Database } from "../db.ts";

/**
 * No transaction around a sign-up: it would hold a connection while the password is hashed, and a crowd of sign-ups
 * would keep traces from being stored. An account left without a password gets one by a reset.
 */
export function accountsDatabase(db: Database) {
  const dialect: Dialect = {
    createDriver: () => driverOf(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: kysely => new PostgresIntrospector(kysely),
  };
  return {
    db: new Kysely<Record<string, never>>({ dialect }),
    type: "postgres",
    transaction: false,
  } as const;
}

/** Each statement has a connection of its own. The database is closed by its owner. */
function driverOf(db: Database): Driver {
  const connection: DatabaseConnection = {
    executeQuery: query => execute(db, query),
    streamQuery: unsupported,
  };
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: unsupported,
    commitTransaction: unsupported,
    rollbackTransaction: unsupported,
    destroy: async () => {},
  };
}

function unsupported(): never {
  throw new Error("The accounts library used a transaction or a cursor.");
}

async function execute<Row>(db: Database, query: CompiledQuery): Promise<QueryResult<Row>> {
  const statement = { text: query.sql, values: [...query.parameters] };
  const { rows, rowCount } = await (writesAccounts(query)
    ? referenceQuery(db, statement)
    : db.pool.query(statement));
  return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
}

/** The only table of the library that every node of a cluster has. */
function writesAccounts(query: CompiledQuery): boolean {
  return writtenTables(query).some(
    node => node && TableNode.is(node) && node.table.identifier.name === "accounts",
  );
}

function writtenTables({ query }: CompiledQuery): readonly (OperationNode | undefined)[] {
  switch (query.kind) {
    case "InsertQueryNode":
      return [query.into];
    case "UpdateQueryNode":
      return [query.table];
    case "DeleteQueryNode":
      return query.from.froms;
    default:
      return [];
  }
}
