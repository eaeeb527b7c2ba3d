// Dialog for choosing a past trace: the latest ones, or those found by text or ID.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { pastTracesQuery } from "../../queries/editor.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Loaded } from "../../ui/State.tsx";
import { TraceLine } from "./DryRunPanel.tsx";
import { useDebounced } from "./debounced.ts";
import { NoMatchingTraces, TraceSearch } from "./TraceSearch.tsx";

const isId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

type ChooseTraceProps = {
  agentId: string;
  chosen: string | undefined;
  onChoose: (traceId: string) => void;
  onClose: () => void;
};

export function ChooseTrace({ agentId, chosen, onChoose, onClose }: ChooseTraceProps) {
  const [text, setText] = useState("");
  const sought = text.trim();
  const found = useQuery(pastTracesQuery(agentId, useDebounced(sought)));
  return (
    <Dialog title="Choose trace" onClose={onClose}>
      <TraceSearch
        hint="Name, first 500 characters of input or reply, or a full trace ID or external ID."
        value={text}
        onChange={setText}
      />
      <Loaded query={found}>
        {traces => (
          <>
            <ul className="editor-traces">
              {isId.test(sought) && (
                <li>
                  <button
                    type="button"
                    className="editor-choice"
                    onClick={() => onChoose(sought.toLowerCase())}
                  >
                    Trace <code className="break">{sought}</code>
                  </button>
                </li>
              )}
              {traces.map(trace => (
                <li key={trace.id}>
                  <button
                    type="button"
                    className="editor-choice"
                    aria-current={trace.id === chosen ? true : undefined}
                    onClick={() => onChoose(trace.id)}
                  >
                    <TraceLine trace={trace} />
                  </button>
                </li>
              ))}
            </ul>
            {traces.length === 0 && !isId.test(sought) && <NoMatchingTraces />}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
