// The state of a form that drafts saved settings.
import { useState } from "react";
import { toast } from "../ui/Toast.tsx";
import { beginDraft, type Drafting, followSaved, isChanged, overwritesUnseen, settleDraft } from "./draft.ts";
import { useUnsavedChanges } from "./unsaved.ts";

/** What the end of a form needs of its draft. */
export type Drafted = {
  isChanged: boolean;
  /** Other settings were saved elsewhere since the form was opened. */
  isOutdated: boolean;
  /** Loads the saved settings. */
  discard: () => void;
  /** Asks the server. If other settings were saved since the last look, the form says so and nothing should be sent. */
  isCurrent: () => Promise<boolean>;
};

/** `drafting` stays the same object. `read` asks the server and leads to another `saved`. */
export function useDraft<S, D>(saved: S, drafting: Drafting<S, D>, read: () => Promise<S>) {
  const [state, setState] = useState(() => beginDraft(saved, drafting));
  const now = followSaved(state, saved, drafting);
  if (now !== state) setState(now);
  const hasChanges = now.isOutdated || isChanged(now, drafting);
  const markSaved = useUnsavedChanges(hasChanges);
  const drafted: Drafted = {
    isChanged: hasChanges,
    isOutdated: now.isOutdated,
    discard: () => setState(beginDraft(saved, drafting)),
    async isCurrent() {
      // If the settings cannot be read, they can hardly be saved: the answer to that says why.
      const latest = await read().catch(() => now.read);
      if (!overwritesUnseen(now, latest, drafting)) return true;
      if (!isChanged(now, drafting)) toast("Loaded settings that were saved elsewhere");
      return false;
    },
  };
  return {
    ...drafted,
    draft: now.draft,
    /** Some of its fields. */
    change: (fields: Partial<D>) => setState(was => ({ ...was, draft: { ...was.draft, ...fields } })),
    replace: (draft: D) => setState(was => ({ ...was, draft })),
    settle(sent: D, answer: S) {
      markSaved();
      setState(was => settleDraft(was, sent, answer, drafting));
    },
  };
}
