// A form's draft of saved settings. They may be saved in another tab while the form is open, or while it is being saved.
import { isSameJson } from "../same-json.ts";

/** How settings become the texts in fields, and these become what is sent. Drafts that send the same are the same. */
export type Drafting<S, D> = { toDraft: (saved: S) => D; fromDraft: (draft: D) => unknown };

/** Of a single text. */
export const textDrafting = { toDraft: (text: string) => text, fromDraft: (draft: string) => draft };

/** Of a number that may be absent. */
export const numberDrafting = {
  toDraft: (number: number | null) => String(number ?? ""),
  fromDraft: (draft: string) => (draft.trim() === "" ? null : Number(draft)),
};

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
  const isSame = !isChanged({ ...state, base: saved }, drafting);
  return isSame
    ? { ...state, base: saved, read: saved, isOutdated: false }
    : { ...state, read: saved, isOutdated: true };
}

/** Whether saving the draft would overwrite settings, `saved`, that were not shown yet. */
export function overwritesUnseen<S, D>(state: DraftState<S, D>, saved: S, drafting: Drafting<S, D>): boolean {
  const now = followSaved(state, saved, drafting);
  return now !== state && (now.isOutdated || now.draft !== state.draft);
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
  const names = (Object.keys(fields) as (keyof T)[]).filter(name => !isSameJson(fields[name], before[name]));
  return Object.fromEntries(names.map(name => [name, fields[name]])) as Partial<T>;
}

export function isChanged<S, D>(
  { draft, base }: Pick<DraftState<S, D>, "draft" | "base">,
  { toDraft, fromDraft }: Drafting<S, D>,
): boolean {
  return !isSameJson(fromDraft(draft), fromDraft(toDraft(base)));
}
