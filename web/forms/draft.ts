// A form's draft of saved settings. They may be saved in another tab while the form is open, or while it is being saved.
import { isSameJson } from "../same-json.ts";

/** How settings become the texts in fields, and these become what is sent. Drafts that send the same are the same. */
export type Drafting<S, D> = {
  toDraft: (saved: S) => D;
  fromDraft: (draft: D) => unknown;
  /** A draft with changes after other settings were saved; the base differs from them where both were changed. */
  merge?: (state: { draft: D; base: S }, saved: S) => { draft: D; base: S };
};

/** Of a single text. */
export const textDrafting = { toDraft: (text: string) => text, fromDraft: (draft: string) => draft };

/** Of a number that may be absent. */
export const numberDrafting = {
  toDraft: (number: number | null) => String(number ?? ""),
  fromDraft: (draft: string) => (draft.trim() === "" ? null : Number(draft)),
};

/** Of settings of which only changed fields are sent: the others follow what is saved elsewhere. */
export function fieldsDrafting<S extends object, D extends Record<keyof S, unknown>>(
  toDraft: (saved: S) => D,
  fromDraft: (draft: D) => S,
): { fromDraft: (draft: D) => S } & Required<Drafting<S, D>> {
  return {
    toDraft,
    fromDraft,
    merge({ draft, base }, saved) {
      const mine = fromDraft(draft);
      const changed = changedNames(base, mine);
      const theirs = new Set(changedNames(base, saved));
      const conflicts = changed.filter(name => theirs.has(name) && !isSameJson(saved[name], mine[name]));
      return {
        draft: { ...toDraft(saved), ...pick(draft, changed) },
        base: { ...saved, ...pick(base, conflicts) },
      };
    },
  };
}

export type DraftState<S, D> = {
  draft: D;
  /** The settings that the draft began with. */
  base: S;
  /** The saved settings as last read. */
  read: S;
  /** Other settings were saved elsewhere than those that the draft began with. */
  isOutdated: boolean;
};

export function beginDraft<S, D>(saved: S, { toDraft }: Drafting<S, D>): DraftState<S, D> {
  return { draft: toDraft(saved), base: saved, read: saved, isOutdated: false };
}

/** With the settings as they are saved now. A draft without changes follows them; one with changes is kept. */
export function followSaved<S, D>(
  state: DraftState<S, D>,
  saved: S,
  drafting: Drafting<S, D>,
): DraftState<S, D> {
  if (isSameJson(saved, state.read)) return state;
  if (isSameJson(saved, state.base)) return { ...state, read: saved, isOutdated: false };
  if (!isChanged(state, drafting)) return beginDraft(saved, drafting);
  const { draft, base } = (drafting.merge ?? keepDraft(drafting))(state, saved);
  return { draft, base, read: saved, isOutdated: !isSameJson(base, saved) };
}

/** Whether saving the draft would overwrite settings, `saved`, that were not shown yet. */
export function overwritesUnseen<S, D>(state: DraftState<S, D>, saved: S, drafting: Drafting<S, D>): boolean {
  const now = followSaved(state, saved, drafting);
  const isReplaced = now.draft !== state.draft && !isChanged(state, drafting);
  return now !== state && (now.isOutdated || isReplaced);
}

/** After `sent` was saved as `saved`. What was typed since stays. */
export function settleDraft<S, D>(
  state: DraftState<S, D>,
  sent: D,
  saved: S,
  { toDraft }: Drafting<S, D>,
): DraftState<S, D> {
  const draft = state.draft === sent ? toDraft(saved) : state.draft;
  return { ...state, draft, base: saved, isOutdated: false };
}

/** The fields that differ from what they were, for a PATCH. */
export function changedFields<T extends object>(before: T, fields: T): Partial<T> {
  return pick(fields, changedNames(before, fields));
}

export function isChanged<S, D>(
  { draft, base }: Pick<DraftState<S, D>, "draft" | "base">,
  { toDraft, fromDraft }: Drafting<S, D>,
): boolean {
  return !isSameJson(fromDraft(draft), fromDraft(toDraft(base)));
}

/** Of settings that are sent as a whole. */
function keepDraft<S, D>(drafting: Drafting<S, D>): Required<Drafting<S, D>>["merge"] {
  return ({ draft, base }, saved) => ({
    draft,
    base: isChanged({ draft, base: saved }, drafting) ? base : saved,
  });
}

function changedNames<T extends object>(before: T, fields: T): (keyof T)[] {
  return (Object.keys(fields) as (keyof T)[]).filter(name => !isSameJson(fields[name], before[name]));
}

function pick<T extends object>(fields: T, names: readonly PropertyKey[]): Partial<T> {
  return Object.fromEntries(names.map(name => [name, fields[name as keyof T]])) as Partial<T>;
}
