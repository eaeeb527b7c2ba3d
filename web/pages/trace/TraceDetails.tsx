// Everything about a trace that its header leaves out: ids, path, revision, metadata and resource.
import type { ReactNode } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { numberText } from "../../format.ts";
import { tracePaths } from "../../labels.ts";
import { CopyText } from "../../ui/Copy.tsx";
import { timesText, tokensText } from "./words.ts";

export function TraceDetails({ trace }: { trace: TraceOutline }) {
  const { metadata, resource, cuts, omissions } = trace;
  const parts = { Metadata: metadata, Resource: resource };
  const present = Object.entries(parts).filter(([, part]) => part !== null && Object.keys(part).length > 0);
  return (
    <section className="trace-details" id="trace-details" aria-label="Details">
      <Facts trace={trace} />
      {cuts.length + omissions.length > 0 && (
        <p className="quiet small">Truncated. The download under Raw JSON is complete.</p>
      )}
      {present.length > 0 && (
        <div className="trace-parts">
          {present.map(([name, part]) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
            <section key={name} tabIndex={0} aria-label={name}>
              <h2 className="small">{name}</h2>
              <pre>{JSON.stringify(part, null, 2)}</pre>
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
      <Fact name="Trace ID">
        <CopyText text={id} label="trace id" />
      </Fact>
      <Fact name="External ID">
        <CopyText text={externalId} label="external ID" />
      </Fact>
    </dl>
  );
}

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
