// Everything about a trace that its header leaves out: ids, path, revision, metadata and resource.

import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { costText, whyTexts } from "../../cost.ts";
import { numberText } from "../../format.ts";
import { useConventionTitles } from "../../forms/ReadIt.tsx";
import { tracePaths } from "../../labels.ts";
import { CopyText } from "../../ui/Copy.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { timesText, tokensText } from "./words.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export function TraceDetails({ trace }: { trace: TraceOutline }) {
  const { metadata, resource, cuts, omissions } = trace;
  const present = Object.entries({ Metadata: metadata, Resource: resource }).filter(
    ([, part]) => part !== null && Object.keys(part).length > 0,
  );
  return (
    <section className="trace-details" id="trace-details" aria-label="Details">
      <Facts trace={trace} />
      <CostReasons trace={trace} />
      <ReadFrom trace={trace} />
      {cuts.length + omissions.length > 0 && (
        <p className="quiet small">Truncated. The download under Raw JSON is complete.</p>
      )}
      {present.length > 0 && (
        <div className="trace-parts">
          {present.map(([name, part]) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
            <section key={name} tabIndex={0} aria-label={name}>
              <h2 className="small">{name}</h2>
              <pre>
                <TraceText text={JSON.stringify(part, null, 2)} />
              </pre>
            </section>
          ))}
        </div>
      )}
    </section>
  );
}

function Facts({ trace }: { trace: TraceOutline }) {
  const { id, externalId, name, path, kind, revision, durationMs, tokens, httpStatus, spanCount } = trace;
  const changes = revision - 1;
  const cost = costText(trace);
  return (
    <dl className="trace-facts">
      <Fact name="Root span">{name || "Unnamed"}</Fact>
      {durationMs === null && (
        <Fact name="Duration">
          <None />
        </Fact>
      )}
      <Fact name="Spans">{numberText(spanCount)}</Fact>
      <Fact name="HTTP status">{httpStatus ?? <None />}</Fact>
      <Fact name="Tokens">
        {tokensText(tokens) ?? <None />}
        {tokens.reasoning !== null && (
          <span className="quiet"> ({numberText(tokens.reasoning)} reasoning)</span>
        )}
      </Fact>
      {cost !== undefined && <Fact name="Cost">{cost}</Fact>}
      <Identity trace={trace} />
      <Fact name="Path">
        {tracePaths[path]}
        {kind === "test_run" && ", test run"}
      </Fact>
      <Fact name="Revision">
        {numberText(revision)}
        {changes > 0 && (
          <span className="quiet">
            {" "}
            ({path === "otlp" ? "merged" : "replaced"} {timesText(changes)})
          </span>
        )}
      </Fact>
      <Redactions trace={trace} />
      <Fact name="Trace ID">
        <CopyText text={id} label="trace id" />
      </Fact>
      <Fact name="External ID">
        <CopyText text={externalId} label="external ID" />
      </Fact>
    </dl>
  );
}

/** "email 2, card 1": the privacy rules that changed the trace, and how many values. */
function Redactions({ trace: { redactions } }: { trace: TraceOutline }) {
  const counts = Object.entries(redactions);
  if (counts.length === 0) return null;
  return (
    <Fact name="Redacted">{counts.map(([rule, count]) => `${rule} ${numberText(count)}`).join(", ")}</Fact>
  );
}

function CostReasons({ trace }: { trace: TraceOutline }) {
  const { projectId } = route.useParams();
  const reasons = whyTexts(trace);
  if (reasons.length === 0) return null;
  const lacksPrice = trace.unpriced.some(({ why }) => why === "no_price" || why === "long_prompt");
  return (
    <p className="trace-read-from">
      <span className="quiet">Cost {trace.knownCostUsd === null ? "unknown" : "incomplete"}:</span>{" "}
      {reasons.map(text => `${text}. `)}
      {lacksPrice && (
        <Link to="/projects/$projectId/settings/prices" params={{ projectId }}>
          Prices
        </Link>
      )}
    </p>
  );
}

function Identity({ trace }: { trace: TraceOutline }) {
  const { model, provider, conversationId, userId } = trace;
  return (
    <>
      {model !== null && (
        <Fact name="Model">
          {model}
          {provider !== null && <span className="quiet"> ({provider})</span>}
        </Fact>
      )}
      {conversationId !== null && (
        <Fact name="Conversation">
          <CopyText text={conversationId} label="conversation ID">
            <TraceText text={conversationId} />
          </CopyText>
        </Fact>
      )}
      {userId !== null && (
        <Fact name="User">
          <CopyText text={userId} label="user ID">
            <TraceText text={userId} />
          </CopyText>
        </Fact>
      )}
    </>
  );
}

/** Where conventions read the values of the trace. */
function ReadFrom({ trace: { translated, agentId } }: { trace: TraceOutline }) {
  const titleOf = useConventionTitles(agentId, translated.length > 0);
  return [...Map.groupBy(translated, ({ convention }) => convention)].map(([convention, values]) => (
    <p key={convention} className="trace-read-from">
      <span className="quiet">Read by {titleOf(convention)}:</span>{" "}
      {values.map(({ field, attribute, event }, at) => (
        <span key={field}>
          {at > 0 && ", "}
          {translatedFields[field]} from <code>{attribute ?? event ?? "the span’s name"}</code>
        </span>
      ))}
    </p>
  ));
}

const translatedFields: Record<TraceOutline["translated"][number]["field"], string> = {
  userInput: "input",
  responseText: "reply",
  tokens: "tokens",
  model: "model",
  provider: "provider",
  conversationId: "conversation",
  userId: "user",
};

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function None() {
  return (
    <span className="quiet">
      <span aria-hidden="true">–</span>
      <span className="unseen">not available</span>
    </span>
  );
}
