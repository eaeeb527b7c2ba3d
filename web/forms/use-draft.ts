// The state of a form that drafts saved settings.
import { useState } from "react";
import { beginDraft, type Drafting, followSaved, isChanged, settleDraft } from "./draft.ts";

/** `drafting` stays the same object. */
export function useDraft<S, D>(saved: S, drafting: Drafting<S, D>) {
  const [state, setState] = useState(() => beginDraft(saved, drafting));
  const now = followSaved(state, saved, drafting);
  if (now !== state) setState(now);
  return {
    draft: now.draft,
    isChanged: now.isOutdated || isChanged(now, drafting),
    isOutdated: now.isOutdated,
    change: (draft: (was: D) => D) => setState(was => ({ ...was, draft: draft(was.draft) })),
    /** Loads the saved settings. */
    discard: () => setState(beginDraft(saved, drafting)),
    settle: (sent: D, answer: S) => setState(was => settleDraft(was, sent, answer, drafting)),
  };
}
