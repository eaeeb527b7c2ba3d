// Shared zod schemas of the API: ids, names, times and pages. Imports nothing but zod.
import { z } from "zod";

/** An id in a body or a reply, in lower case as the database writes it. */
export const Id = z.guid("Must be a UUID.").toLowerCase();

// A text column cannot hold U+0000, and an unpaired surrogate would be stored as another character.
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
const storableRule = "Must not contain U+0000 or unpaired surrogates.";
// JSON Schema cannot exclude unpaired surrogates: no text of its own has any.
const storable = (text: z.ZodString) =>
  text.refine(isStorable, storableRule).meta({ pattern: "^[^\\x00]*$" });

/** A display name: trimmed, 1 to 200 characters. */
export const Name = storable(z.string().trim().min(1).max(200)).meta({
  pattern: "^[^\\x00]*[^\\x00\\s][^\\x00]*$",
});

/** A text that is stored exactly as given. */
export const ExactText = (max: number) =>
  storable(z.string().min(1, "Must not be empty.").max(max, `Must have at most ${max} characters.`));

/** A name that is stored exactly as given: 1 to 255 characters. */
export const ExactName = ExactText(255);

/** What a person writes beside a label or a state; may be empty. */
export const Note = storable(z.string().trim().max(2_000));

/** A text in a query, which is compared with stored texts. */
export const searchText = (max: number) => storable(z.string().max(max));

/** A day in UTC, such as 2026-01-31. Years before 2000 are rejected. */
export const Day = z.iso
  .date("Must be a day, as in 2026-01-31.")
  .refine(day => day >= "2000-01-01", "Must not be before 2000-01-01.")
  .meta({ pattern: "^[2-9][0-9]{3}-[0-9]{2}-[0-9]{2}$" });

const { $schema: _, ...isoTime } = z.toJSONSchema(z.iso.datetime());
const isIsoTime = new RegExp(isoTime.pattern!);

/** A time in an answer: ISO 8601, UTC. A handler may give a Date, which becomes text when it is sent. */
export const Time = z
  .unknown()
  .check(time => {
    if (time.value instanceof Date) time.value = time.value.toISOString();
    if (typeof time.value === "string" && isIsoTime.test(time.value)) return;
    time.issues.push({ code: "custom", input: time.value, message: "Must be a time." });
  })
  .meta(isoTime) as unknown as z.ZodType<string, string | Date>;

/** A time in a query, in any zone. */
export const Instant = z.iso.datetime({ offset: true }).transform(text => new Date(text));

/** For `superRefine`: rejects a time range that ends before it begins. An empty one is accepted, and has nothing in it. */
export function notReversed<From extends string, To extends string>(from: From, to: To) {
  return (query: { [Name in From | To]?: Date | undefined }, context: z.RefinementCtx): void => {
    const [begin, end] = [query[from], query[to]];
    if (begin === undefined || end === undefined || begin <= end) return;
    context.addIssue({ code: "custom", path: [from], message: `Must not be after \`${to}\`.` });
  };
}

// Number fields of browsers also send `.5`.
const decimal = /^-?(\d+(\.\d+)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * A number in a query: a decimal, as OpenAPI describes it. JavaScript would also read an empty text, or `0x10`. For a default use
 * `prefault`, which OpenAPI shows.
 */
export function queryNumber(schema = z.number()) {
  return z.preprocess((text, context) => {
    if (typeof text === "number") return text;
    if (typeof text === "string" && decimal.test(text)) return Number(text);
    context.addIssue("Must be a decimal number.");
    return z.NEVER;
  }, schema);
}

/** A boolean in a query: `true` or `false`. */
export const Flag = z
  .stringbool({ truthy: ["true"], falsy: ["false"], case: "sensitive", error: "Must be true or false." })
  .meta({ type: "boolean" });

export const FieldIssue = z.object({ path: z.string(), message: z.string() });

/** The schema of a page of `item`. */
export function pageSchema<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

export type Page<T> = { items: T[]; nextCursor: string | null };

type KeysOf<T> = T extends unknown ? keyof T : never;

/** S if every T passes it and keeps all fields; else never. */
type Fitting<T, S extends z.ZodType> = [T] extends [z.input<S>]
  ? [unknown] extends [z.input<S>]
    ? S
    : [KeysOf<T>] extends [KeysOf<z.input<S>>]
      ? S
      : never
  : never;

/**
 * Gives a loose schema the exact type of the response. Does not compile if such a value would fail the schema, or if the
 * schema would strip one of its fields.
 */
export function typed<T>() {
  return <S extends z.ZodType>(schema: Fitting<T, S>): z.ZodType<T, T> =>
    schema as unknown as z.ZodType<T, T>;
}
