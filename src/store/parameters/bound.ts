// Statements with many parameters, which are named instead of numbered.

/** The parameter of each value, such as `$3`. */
export type Parameters<Values> = { readonly [Name in keyof Values]: string };

/** `first`: what the statement refers to by number, before the others. */
export function bound<Values extends Record<string, unknown>>(
  values: Values,
  text: (parameters: Parameters<Values>) => string,
  first: readonly unknown[] = [],
): { text: string; values: unknown[] } {
  const numbered = Object.keys(values).map((name, at) => [name, `$${first.length + at + 1}`]);
  return {
    text: text(Object.fromEntries(numbered) as Parameters<Values>),
    values: [...first, ...Object.values(values)],
  };
}

/** Columns of a table by name. */
export function insertion(table: string, row: Record<string, unknown>): { text: string; values: unknown[] } {
  return bound(row, at => `insert into ${table} (${Object.keys(at)}) values (${Object.values(at)})`);
}
