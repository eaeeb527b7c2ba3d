// The places where a check looked, as chips that select or open the span and attribute.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { receivedAttributes } from "../../../../src/model/run/received.ts";
import type { Evidence } from "../../../../src/model/run/run.ts";
import { useConventionTitles } from "../../../forms/ReadIt.tsx";
import { Button } from "../../../ui/Button.tsx";
import { useTrace } from "./context.ts";

const shownMax = 6;

export function EvidenceChips({ evidence }: { evidence: Evidence[] }) {
  const [all, setAll] = useState(false);
  if (evidence.length === 0) return null;
  const shown = all ? evidence : evidence.slice(0, shownMax);
  const rest = evidence.length - shown.length;
  return (
    <div className="evidence">
      <span className="quiet small">Looked at</span>
      <ul className="line" aria-label="Looked at">
        {shown.map(place => (
          <li key={`${place.turn} ${place.spanId} ${place.attribute}`}>
            <EvidenceChip place={place} />
          </li>
        ))}
        {rest > 0 && (
          <li>
            <Button small look="link" onClick={() => setAll(true)}>
              {rest} more
            </Button>
          </li>
        )}
      </ul>
    </div>
  );
}

/** Places that are in no span: what Onlooker itself saw of the call. */
const receivedTexts: Record<(typeof receivedAttributes)[keyof typeof receivedAttributes], string> = {
  "svc.received.http_status": "Status received",
  "svc.received.reply": "Reply received",
  "svc.received.time": "Time measured",
  "svc.sent.input": "Input sent",
};

/** `label`: in place of the names of the span and the attribute. */
export function EvidenceChip({
  place: { spanId, attribute, ...place },
  label,
}: {
  place: Evidence;
  label?: string;
}) {
  const shared = useTrace();
  const { selected, onSelect, params } = shared;
  const { trace, spanNames } = (place.turn !== undefined && shared.ofTurn?.(place.turn)) || shared;
  const name = spanNames.get(spanId);
  const titleOf = useConventionTitles(params.agentId, place.translated !== undefined);
  const received = (receivedTexts as Record<string, string>)[attribute ?? ""];
  if (received !== undefined) {
    return (
      <span className="chip">
        {place.turn !== undefined && `Turn ${place.turn} · `}
        {label ?? received}
      </span>
    );
  }
  const isContentGone = trace.notices.includes("content_not_stored");
  const absent = label === undefined && attribute !== null && !("value" in place) && !isContentGone;
  const text = (
    <>
      {place.turn !== undefined && `Turn ${place.turn} · `}
      {label === undefined ? <bdi>{name ?? spanId}</bdi> : <ChipLabel label={label} name={name} />}
      {label === undefined && attribute !== null && (
        <>
          {" · "}
          <code>{attribute}</code>
        </>
      )}
      {label === undefined && place.translated && (
        <span className="quiet"> read by {titleOf(place.translated.convention)}</span>
      )}
      {absent && <span className="quiet"> missing</span>}
    </>
  );
  if (name === undefined) {
    return (
      <span className="chip chip-gone">
        {text} <span className="quiet">no longer in the trace</span>
      </span>
    );
  }
  if (!onSelect) {
    return (
      <Link
        to="/projects/$projectId/agents/$agentId/traces/$traceId"
        params={{ ...params, traceId: trace.id }}
        search={{ span: spanId, attribute: attribute ?? undefined }}
        target="_blank"
        className="chip chip-link"
      >
        {text}
        <span className="unseen"> (opens in a new window)</span>
      </Link>
    );
  }
  const isSelected = selected?.span === spanId && (selected.attribute ?? null) === attribute;
  return (
    <button
      type="button"
      className="chip"
      title={`${name}${attribute === null ? "" : ` · ${attribute}`}`}
      aria-pressed={isSelected}
      onClick={() => onSelect({ span: spanId, attribute })}
    >
      {text}
    </button>
  );
}

function ChipLabel({ label, name }: { label: string; name: string | undefined }) {
  return (
    <>
      {label}
      {name !== undefined && (
        <>
          {" · "}
          <bdi>{name}</bdi>
        </>
      )}
    </>
  );
}
