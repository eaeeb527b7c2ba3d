// Where a failed result stands: open, known or resolved, with a note.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ResultStateView } from "../../../../src/http/traces/schemas.ts";
import type { ResultState } from "../../../../src/model/run/run.ts";
import type { Failure } from "../../../api.ts";
import { NotePopover } from "../../../forms/NotePopover.tsx";
import { resultStates } from "../../../labels.ts";
import { saveResultState } from "../../../mutations/traces.ts";
import { resultStatesQuery } from "../../../queries/traces.ts";
import { Button } from "../../../ui/Button.tsx";
import { FailureNotice } from "../../../ui/Notice.tsx";
import { useTrace } from "./context.ts";
import { Long } from "./Value.tsx";

export function ResultStateControl({ testId, name }: { testId: string; name: string }) {
  const { trace, states } = useTrace();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  if (!states) return null;
  const of = (items: readonly ResultStateView[]) =>
    items.find(one => one.testId === testId) ?? { state: "open" as const, note: "" };
  const { state, note } = of(states);

  const save = async (change: Partial<Pick<ResultStateView, "state" | "note">>) => {
    setBusy(true);
    // Saving replaces both, so what somebody else has written since is read first.
    const now = await queries
      .fetchQuery({ ...resultStatesQuery(trace.id), staleTime: 0 })
      .then(({ items }) => of(items))
      .catch(() => ({ state, note }));
    const answer = await saveResultState(trace.id, { testId, state: now.state, note: now.note, ...change });
    setFailure(answer.ok ? undefined : answer.failure);
    if (answer.ok) {
      await queries.refetchQueries({ queryKey: resultStatesQuery(trace.id).queryKey });
      // The lists filter by it.
      await queries.invalidateQueries({ queryKey: ["agents", trace.agentId], refetchType: "none" });
    }
    setBusy(false);
    return answer.ok;
  };

  return (
    <div className="label-control">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a line with its legend. */}
      <div className="line" role="group" aria-label={`State of the failure of “${name}”`}>
        <span className="quiet small">This failure is</span>
        {(Object.keys(resultStates) as ResultState[]).map(one => (
          <Button
            key={one}
            small
            busy={busy}
            aria-pressed={one === state}
            onClick={() => void (one !== state && save({ state: one }))}
          >
            {resultStates[one].text}
          </Button>
        ))}
        <NotePopover note={note} busy={busy} onSave={text => save({ note: text })} />
      </div>
      {note !== "" && (
        <p className="label-note">
          <Long text={note} />
        </p>
      )}
      <FailureNotice failure={failure} />
    </div>
  );
}
