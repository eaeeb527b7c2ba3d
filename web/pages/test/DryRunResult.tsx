// What a dry-run came to: the outcome, whether the test would apply, and each check as an evaluation shows it.
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { outcomes, whys } from "../../labels.ts";
import type { DryRun } from "../../queries/editor.ts";
import { outlineQuery } from "../../queries/traces.ts";
import "../../styles/evaluation.css";
import "../../styles/judging.css";
import type { TraceOutline } from "../../shapes.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Loaded } from "../../ui/State.tsx";
import { CheckItem } from "../trace/evaluation/CheckItem.tsx";
import { type Shared, TraceContext } from "../trace/evaluation/context.ts";
import { InputFlag } from "../trace/evaluation/InputFlag.tsx";

type Place = { projectId: string; agentId: string };

export function DryRunResult({ run, place }: { run: DryRun; place: Place }) {
  const { result, applicability } = run;
  const trace = useQuery(outlineQuery(run.traceId));
  return (
    <div className="stack">
      <h3 className="line">
        <Badge word={outcomes[result.outcome]} />
        <span className="break">{result.reason}</span>
      </h3>
      {applicability && (
        <p className="break">
          <Icon name={applicability.applied ? "check" : "skip"} />{" "}
          <strong>{applicability.applied ? "Would apply." : "Would not apply."}</strong>{" "}
          {whys[applicability.why]} {applicability.reason}
        </p>
      )}
      {applicability?.suspicious !== undefined && <InputFlag reason={applicability.suspicious} />}
      {result.checks.length > 0 && (
        <Loaded query={trace}>{outline => <Checks run={run} trace={outline} place={place} />}</Loaded>
      )}
    </div>
  );
}

/** In the order of the test; unfolded, for that is what it was tried for. */
function Checks({ run, trace, place }: { run: DryRun; trace: TraceOutline; place: Place }) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const { projectId, agentId } = place;
  const shared: Shared = useMemo(
    () => ({
      trace,
      spanNames: new Map(trace.spans.map(({ spanId, name }) => [spanId, name])),
      selected: undefined,
      onSelect: undefined,
      onShow: () => {},
      params: { projectId, agentId },
    }),
    [trace, projectId, agentId],
  );
  const result = { ...run.result, testId: "tried" };
  const fold = (id: string, open: boolean) => {
    const others = [...folded].filter(one => one !== id);
    setFolded(new Set(open ? others : [...others, id]));
  };
  return (
    <TraceContext value={shared}>
      <div className="evaluation">
        <ul className="checks" aria-label="Checks">
          {result.checks.map(check => (
            <CheckItem
              key={check.id}
              check={check}
              result={result}
              open={!folded.has(check.id)}
              onFold={open => fold(check.id, open)}
            />
          ))}
        </ul>
      </div>
    </TraceContext>
  );
}
