// The header of a trace: verdict, the user's words, key facts and actions, in one line.
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { costText, whyTexts } from "../../cost.ts";
import { durationText, shortText } from "../../format.ts";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { counted } from "../../labels.ts";
import { deleteTrace } from "../../mutations/traces.ts";
import { removeFromLists } from "../../queries/trace-lists.ts";
import { outlineQuery } from "../../queries/traces.ts";
import { Badge, Verdict } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { NextTry, RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { lastFiltersByAgent } from "../traces/last-filters.ts";
import { BackToTraces } from "./BackToTraces.tsx";
import { useCopyLink } from "./links.ts";
import { NeighborLinks } from "./NeighborLinks.tsx";
import { TraceDetails } from "./TraceDetails.tsx";
import { TurnBar } from "./TurnBar.tsx";
import { tokensText } from "./words.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");
const testRun = { text: "Test run", icon: "play" } as const;
const failedSpan = { text: "Failed span", icon: "warning", tone: "bad" } as const;

/** One line: verdict, the user's words, duration, tokens, cost, model and time. Everything else is under Details. */
export function TraceHeader({ trace }: { trace: TraceOutline }) {
  const { traceId: _, ...params } = route.useParams();
  const [deleting, setDeleting] = useState(false);
  const [detailed, setDetailed] = useState(false);
  const copyLink = useCopyLink();
  const { run } = trace;
  const manualRun = trace.runs.find(({ launchId }) => launchId !== null);
  const title = trace.userInput?.trim().replace(/\s+/g, " ") || trace.name || "Unnamed";
  return (
    <header className="trace-top">
      <div className="trace-line">
        <span className="line trace-way">
          <BackToTraces className="trace-back small">
            <Icon name="chevron" />
            Traces
          </BackToTraces>
          <NeighborLinks />
        </span>
        <span className="line trace-marks">
          <Verdict run={run} />
          {run?.waiting && (
            <span className="small">
              <NextTry at={run.waiting.nextTryAt} />
            </span>
          )}
          {trace.failed && <Badge word={failedSpan} />}
          {trace.kind === "test_run" && <Badge word={testRun} />}
        </span>
        <h1 title={title}>
          <TraceText text={title} />
        </h1>
        <Facts trace={trace} />
        <span className="line trace-actions">
          <Button
            small
            look="plain"
            aria-expanded={detailed}
            aria-controls="trace-details"
            onClick={() => setDetailed(!detailed)}
          >
            <Icon name="chevron" />
            Details
          </Button>
          <Button
            small
            look="plain"
            icon="link"
            aria-label="Copy link to this trace"
            title="Copy link"
            onClick={() => copyLink()}
          />
          <Button
            small
            look="plain"
            icon="trash"
            aria-label="Delete"
            title="Delete trace"
            onClick={() => setDeleting(true)}
          />
          {manualRun?.launchId && (
            <Link
              to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
              params={{ ...params, launchId: manualRun.launchId, runId: manualRun.id }}
              className="button button-small"
            >
              Open test run
            </Link>
          )}
          <Link
            to="/projects/$projectId/agents/$agentId/tests/$testId"
            params={{ ...params, testId: "new" }}
            search={{ trace: trace.id }}
            className="button button-small"
            aria-label="Create test from this trace"
          >
            <Icon name="plus" />
            Create test
          </Link>
        </span>
      </div>
      <TurnBar trace={trace} params={params} />
      {detailed && <TraceDetails trace={trace} />}
      {deleting && <DeleteTrace trace={trace} onClose={() => setDeleting(false)} />}
    </header>
  );
}

/** Larger counts are short in the line, and whole under Details. */
const longMin = 10_000;

/** What is not known is under Details, as not available. */
function Facts({ trace }: { trace: TraceOutline }) {
  const { durationMs, tokens, httpStatus, receivedAt, model, provider } = trace;
  const cost = costText(trace);
  return (
    <dl className="trace-summary">
      {httpStatus !== null && httpStatus >= 400 && <Fact name="HTTP status">HTTP {httpStatus}</Fact>}
      {durationMs !== null && <Fact name="Duration">{durationText(durationMs)}</Fact>}
      {tokens.total !== null && (
        <Fact name="Tokens" title={tokensText(tokens)}>
          {tokens.total < longMin ? counted(tokens.total, "token") : `${shortText(tokens.total)} tokens`}
        </Fact>
      )}
      {cost !== undefined && trace.knownCostUsd !== null && (
        <Fact name="Cost" title={whyTexts(trace).join("\n")}>
          {cost}
        </Fact>
      )}
      {model !== null && (
        <Fact name="Model" title={provider === null ? model : `${model} (${provider})`}>
          <span className="trace-model">{model}</span>
        </Fact>
      )}
      <Fact name="Received">
        <RelativeTime at={receivedAt} />
      </Fact>
    </dl>
  );
}

function Fact({ name, title, children }: { name: string; title?: string | null; children: ReactNode }) {
  return (
    <div title={title || undefined}>
      <dt className="unseen">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Names that cannot be typed are not asked for. */
const typeable = /^[\p{L}\p{N}\p{P}\p{S} ]{1,60}$/u;

function DeleteTrace({ trace, onClose }: { trace: TraceOutline; onClose: () => void }) {
  const { traceId: _, ...params } = route.useParams();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const name = trace.name.trim();
  return (
    <ConfirmDialog
      title="Delete trace"
      about="Also deletes its spans, runs and results. Past statistics are kept. This cannot be undone."
      name={typeable.test(name) ? name : "delete"}
      send={() => deleteTrace(trace.id)}
      action="Delete trace"
      onClose={onClose}
      onDone={async () => {
        removeFromLists(queries, trace.agentId, [trace.id]);
        const search = lastFiltersByAgent.get(params.agentId) ?? {};
        await navigate({
          to: "/projects/$projectId/agents/$agentId/traces",
          params,
          search,
          replace: true,
        });
        toast("Trace deleted");
        queries.removeQueries({ queryKey: outlineQuery(trace.id).queryKey.slice(0, 2) });
        await queries.invalidateQueries({ queryKey: ["agents", trace.agentId] });
      }}
    />
  );
}
