// The first member of a backup, as data: each value has one narrow form, and each name is one that this version's schema has.
import { z } from "zod";
import { declaredTables } from "../store/backup/catalog.ts";
import { oldest } from "../store/listing.ts";
import { requireMade } from "../store/migrate.ts";
import { nameFrom } from "../store/ranges/catalog.ts";
import type { Member } from "../wire/tar.ts";
import { ArchiveError, foreign } from "./archive.ts";

/** Of what follows it; raised when an older version could not read it. */
export const format = 1;

const Digest = z.string().regex(/^[0-9a-f]{64}$/);
const Version = z.string().regex(/^\d[\w.+-]{0,60}$/);
/** The first id of a millisecond before the year 9700. */
const Bound = z.string().regex(/^[0-9a-d][0-9a-f]{7}-[0-9a-f]{4}-0000-0000-0{12}$/);

const Manifest = z.strictObject({
  format: z.literal(format),
  /** The version that made it. */
  onlooker: Version,
  takenAt: z.iso.datetime(),
  /** The version of PostgreSQL. */
  server: Version,
  /** The files that made the tables, with their hashes. */
  migrations: z.array(z.strictObject({ name: z.string().regex(/^[\da-z_]{1,60}\.sql$/), hash: Digest })),
  tables: z.array(
    z.strictObject({
      name: z.string(),
      columns: z.array(z.string()),
      sequences: z.array(
        z.strictObject({
          column: z.string(),
          value: z.string().regex(/^[1-9]\d{0,17}$/),
          isCalled: z.boolean(),
        }),
      ),
    }),
  ),
  /** The ranges of batches, the oldest first. */
  ranges: z.array(z.strictObject({ from: Bound, to: Bound })).max(10_000),
  /** SHA-256 of the key that encrypts stored secrets; null if it was not known. */
  keySum: Digest.nullable(),
});

export type Manifest = z.infer<typeof Manifest>;

/**
 * Throws ArchiveError if it is not as `svc backup` writes it, and UnfitDatabaseError if its schema is another version's.
 * `first`: undefined for an empty archive.
 */
export async function readManifest(file: string, first: Member | undefined): Promise<Manifest> {
  if (first?.name !== "manifest.json") throw new ArchiveError(`${file} is no backup of Onlooker.`);
  const content = parsed(file, first);
  const newer = z.object({ format: z.number().gt(format), onlooker: Version }).safeParse(content);
  if (newer.success) {
    throw new ArchiveError(
      `${file} was made by a newer version of Onlooker, ${newer.data.onlooker}. Use that version.`,
    );
  }
  const manifest = validated(file, first.name, Manifest, content);
  await requireMade(manifest.migrations);
  const wrong = twiceIn(manifest);
  if (wrong !== undefined)
    throw foreign(file, `its manifest.json has ${shown(wrong)} twice, or out of order`);
  const declared = declaredTables();
  for (const { name, columns, sequences } of manifest.tables) {
    const own = declared.get(name);
    if (own === undefined) throw foreign(file, `its manifest.json names the table ${shown(name)}`);
    const column = [...columns, ...sequences.map(one => one.column)].find(one => !own.has(one));
    if (column !== undefined)
      throw foreign(file, `its manifest.json names the column ${shown(column)} of ${name}`);
  }
  return manifest;
}

/** The first name of a list that has it twice, or the first range that begins before the end of the one before it. */
function twiceIn({ migrations, tables, ranges }: Manifest): unknown {
  const lists = [
    migrations.map(({ name }) => name),
    tables.map(({ name }) => name),
    ...tables.map(({ columns }) => columns),
    ranges.map(({ from }) => nameFrom(from)),
  ];
  return (
    lists.flatMap(list => list.filter((name, at) => list.indexOf(name) < at))[0] ??
    ranges.find(({ from, to }, at) => from >= to || from < (ranges[at - 1]?.to ?? oldest))
  );
}

/** Throws ArchiveError if it is no JSON. */
export function parsed(file: string, { name, content }: Member): unknown {
  try {
    return JSON.parse(content.toString());
  } catch (error) {
    throw new ArchiveError(`${file} is damaged: its ${name} cannot be read.`, { cause: error });
  }
}

/** Throws ArchiveError that names the first value which is not as the schema says. */
export function validated<T>(file: string, name: string, schema: z.ZodType<T>, content: unknown): T {
  const { success, data, error } = schema.safeParse(content, { reportInput: true });
  if (success) return data;
  const { path, message, input } = error.issues[0]!;
  const value = typeof input === "object" ? "" : ` ${shown(input)}`;
  throw foreign(
    file,
    `its ${name} has an unexpected${value || " value"} at ${path.join(".") || "its top"} (${message})`,
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
