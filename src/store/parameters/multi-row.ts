// Sends many rows as parameters of one statement: a binary array per column, combined by unnest.
import { binaryArray, isBinary } from "./binary-array.ts";

/** `bytes` columns share one parameter, which is copied once less than an array. */
type ColumnType = "uuid" | "text" | "int" | "bigint" | "float8" | "date" | "bool" | "bytea" | "bytes";

export type Column<Row> = readonly [type: ColumnType, read: (row: Row, index: number) => unknown];

export type MultiRow<Row, Name extends string> = {
  /** For a `from`: `unnest($2::uuid[], $3::int[]) as item (id, seq)`. */
  from: string;
  /** The value of a `bytes` column, as SQL. */
  bytes(name: Name): string;
  /** The parameters that `from` and `bytes` refer to, in order. */
  values(rows: readonly Row[]): unknown[];
};

/** `first`: the number of its first parameter, after the statement's own. */
export function multiRow<Row, Name extends string = string>(
  first: number,
  columns: Record<Name, Column<Row>>,
): MultiRow<Row, Name> {
  const entries = Object.entries(columns) as [Name, Column<Row>][];
  const sent = entries.flatMap(([name, [type]]) =>
    type === "bytes" ? [`${name}_at int`, `${name}_length int`] : [`${name} ${type}`],
  );
  // The planner sees how long arrays are, and plans again each time that there are fewer than the ten it assumes otherwise:
  // 0.9 ms of the 1.6 ms for one trace (decision 005). One array that it cannot see makes these plans equal, and one is kept.
  const arrays = sent.map((column, index) => {
    const array = `$${first + index}::${column.split(" ")[1]}[]`;
    return index === 0 ? `(select ${array})` : array;
  });
  const names = sent.map(column => column.split(" ")[0]);
  const data = `$${first + sent.length}::bytea`;
  const hasBytes = entries.some(([, [type]]) => type === "bytes");
  return {
    from: `unnest(${arrays.join(", ")}) as item (${names.join(", ")})`,
    bytes: name => `substring(${data} from item.${name}_at for item.${name}_length)`,
    values(rows) {
      const chunks: Uint8Array[] = [];
      // SQL counts from 1.
      let at = 1;
      const values = entries.flatMap(([, [type, read]]): unknown[] => {
        const column = rows.map(read);
        if (isBinary(type)) return [binaryArray(type, column)];
        if (type !== "bytes") return [column];
        const parts = column as Uint8Array[];
        const offsets = parts.map(({ length }) => {
          at += length;
          return at - length;
        });
        chunks.push(...parts);
        const lengths = parts.map(({ length }) => length);
        return [binaryArray("int", offsets), binaryArray("int", lengths)];
      });
      return hasBytes ? [...values, Buffer.concat(chunks)] : values;
    },
  };
}
