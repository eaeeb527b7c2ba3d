// Dialog that adds the user inputs of recent live traces: searched, chosen, and read whole.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ListedTrace } from "../../../../src/http/traces/schemas.ts";
import type { Failure } from "../../../api.ts";
import { numberText } from "../../../format.ts";
import { counted } from "../../../labels.ts";
import { liveTracesQuery } from "../../../queries/editor.ts";
import { Verdict } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { FailureNotice, Notice } from "../../../ui/Notice.tsx";
import { Loaded, MorePages } from "../../../ui/State.tsx";
import { RelativeTime } from "../../../ui/Time.tsx";
import { TraceText } from "../../../ui/TraceText.tsx";
import { useDebounced } from "../debounced.ts";
import { NoMatchingTraces, TraceSearch } from "../TraceSearch.tsx";
import { pickedFrom } from "./picked.ts";
import { readInputs } from "./read-inputs.ts";

type PickInputsProps = {
  agentId: string;
  /** The inputs of the test, blank ones included. */
  known: readonly string[];
  /** `note`: what was left out of the chosen ones. */
  onPick: (inputs: string[], note: string, traceIds: string[]) => void;
  onClose: () => void;
};

export function PickInputs({ agentId, known, onPick, onClose }: PickInputsProps) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const traces = useInfiniteQuery(liveTracesQuery(agentId, useDebounced(text.trim())));
  const reading = useReading({ agentId, known, onPick });
  const choose = (ids: readonly string[], on: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) on ? next.add(id) : next.delete(id);
    setChosen(next);
  };
  return (
    <Dialog
      title="Pick from traces"
      about="User inputs of recent live traces, newest first."
      onClose={onClose}
    >
      <TraceSearch
        hint="Name, or the first 500 characters of input or reply."
        value={text}
        onChange={setText}
      />
      <Loaded query={traces}>
        {found => (
          <TraceChoices traces={found} chosen={chosen} onChoose={choose} isSearch={text.trim() !== ""} />
        )}
      </Loaded>
      <MorePages query={traces} />
      {reading.notice && <Notice tone="warn">{reading.notice}</Notice>}
      <FailureNotice failure={reading.failure} />
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="main"
          busy={reading.busy || chosen.size === 0}
          onClick={() => void reading.read([...chosen])}
        >
          {chosen.size === 0 ? "Add inputs" : `Add ${counted(chosen.size, "input")}`}
        </Button>
      </div>
    </Dialog>
  );
}

/** Reads the whole inputs of traces, and passes on those that the test does not have. */
function useReading({ agentId, known, onPick }: Pick<PickInputsProps, "agentId" | "known" | "onPick">) {
  const [busy, setBusy] = useState(false);
  const [notice, setNotice] = useState<string>();
  const [failure, setFailure] = useState<Failure>();
  const read = async (traceIds: string[]) => {
    setBusy(true);
    setNotice(undefined);
    setFailure(undefined);
    const answer = await readInputs(agentId, traceIds);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    const { inputs, note } = pickedFrom(answer.value, traceIds.length, known);
    if (inputs.length > 0) onPick(inputs, note, traceIds);
    else setNotice(`Nothing to add. ${note}`);
  };
  return { busy, notice, failure, read };
}

type TraceChoicesProps = {
  traces: readonly ListedTrace[];
  chosen: ReadonlySet<string>;
  onChoose: (ids: readonly string[], on: boolean) => void;
  isSearch: boolean;
};

function TraceChoices({ traces, chosen, onChoose, isSearch }: TraceChoicesProps) {
  const usable = traces.filter(({ userInput }) => userInput !== null);
  if (usable.length === 0) {
    if (isSearch) return <NoMatchingTraces />;
    return (
      <p className="quiet" role="status">
        No live trace with a user input yet.
      </p>
    );
  }
  const areAll = usable.every(({ id }) => chosen.has(id));
  return (
    <div className="stack-tight">
      <label className="choice">
        <input
          type="checkbox"
          checked={areAll}
          onChange={({ target }) =>
            onChoose(
              usable.map(({ id }) => id),
              target.checked,
            )
          }
        />
        <span>Select all {numberText(usable.length)} shown</span>
      </label>
      <ul className="inputs-traces" aria-label="Traces">
        {usable.map(trace => (
          <li key={trace.id}>
            <label className="choice">
              <input
                type="checkbox"
                checked={chosen.has(trace.id)}
                onChange={({ target }) => onChoose([trace.id], target.checked)}
              />
              <span className="stack-tight">
                <span className="editor-words" dir="auto">
                  <TraceText text={trace.userInput ?? ""} />
                </span>
                <span className="line quiet small">
                  <Verdict run={trace.run} />
                  <RelativeTime at={trace.receivedAt} />
                </span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </div>
  );
}
