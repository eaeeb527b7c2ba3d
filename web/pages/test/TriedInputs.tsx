// The result of a scenario trial: each input with its label, the judge's reason and a link to its trace; filtered by label.

import { getRouteApi, Link } from "@tanstack/react-router";
import type { TriedInput } from "../../../src/http/test-cases/editor-schemas.ts";
import type { RouteLabel } from "../../../src/model/judge/call.ts";
import { counted, routeLabels, type Word } from "../../labels.ts";
import "../../styles/judging.css";
import { Badge } from "../../ui/Badge.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { InputFlag } from "../trace/evaluation/InputFlag.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");

const unlabeled: Word = { text: "No answer", icon: "warning", tone: "warn" };
const kinds = Object.keys(routeLabels) as RouteLabel[];

export function TriedInputs({ items }: { items: TriedInput[] }) {
  const { projectId, agentId } = route.useParams();
  const { inputs: requested } = route.useSearch();
  const filter = kinds.find(kind => kind === requested);
  const shown = filter ? items.filter(({ label }) => label === filter) : items;
  const choices = [undefined, ...kinds].map(kind => ({
    kind,
    text: kind ? routeLabels[kind].text : "All",
    count: kind ? items.filter(({ label }) => label === kind).length : items.length,
  }));
  return (
    <div className="stack-tight">
      <nav className="line" aria-label="Filter inputs by label">
        {choices.map(({ kind, text, count }) => (
          <Link
            key={text}
            from="/projects/$projectId/agents/$agentId/tests/$testId"
            to="."
            search={was => ({ ...was, inputs: kind })}
            replace
            resetScroll={false}
            className="button button-small tried-filter"
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={kind === filter ? "page" : undefined}
          >
            {text} <span className="quiet">{count}</span>
          </Link>
        ))}
      </nav>
      <ul className="tried" aria-label="Inputs">
        {shown.map(({ traceId, traces, input, label, reason, cached, suspicious }) => (
          <li key={traceId} className="tried-input">
            <div className="line line-apart">
              <span className="line">
                <Badge word={label ? routeLabels[label] : unlabeled} />
                {traces > 1 && <span className="quiet small">{counted(traces, "trace")}</span>}
                {cached && <span className="quiet small">from cache</span>}
              </span>
              <Link
                to="/projects/$projectId/agents/$agentId/traces/$traceId"
                params={{ projectId, agentId, traceId }}
                className="small"
                aria-label={`Trace of “${input.slice(0, 60)}”`}
              >
                Trace
              </Link>
            </div>
            <p className="editor-words">
              <TraceText text={input} />
            </p>
            <p className="quiet small break">
              <TraceText text={reason} />
            </p>
            {suspicious !== undefined && <InputFlag reason={suspicious} />}
          </li>
        ))}
      </ul>
      {shown.length === 0 && filter && (
        <p className="quiet" role="status">
          No inputs labeled “{routeLabels[filter].text}”
        </p>
      )}
    </div>
  );
}
