// The details of one span: header, attributes, events. Drafts an assertion from a value.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SpanDetail, TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { DraftPlace } from "../../mutations/tests.ts";
import { spanQuery } from "../../queries/traces.ts";
import "../../styles/json.css";
import "../../styles/span.css";
import { closeNotLoaded, lazyPart } from "../../ui/lazy-part.tsx";
import { Loaded } from "../../ui/State.tsx";
import type { Select, Selection } from "./selection.ts";
import { SpanAttributes } from "./span/SpanAttributes.tsx";
import { SpanExtras } from "./span/SpanExtras.tsx";
import { SpanHeader } from "./span/SpanHeader.tsx";

const AssertionDialog = lazyPart(() => import("./span/AssertionDialog.tsx"), closeNotLoaded);

/** `selected` must be a span of the trace. */
export type SpanPanelProps = { trace: TraceOutline; selected: Selection; onSelect: Select };

export function SpanPanel({ trace, selected, onSelect }: SpanPanelProps) {
  const query = useQuery(spanQuery(trace.id, selected.span));
  const { attribute = null } = selected;
  return (
    <div className="span-panel">
      <p className="unseen" role="status">
        {query.data && selectedText(query.data, attribute)}
      </p>
      <Loaded query={query}>
        {detail => (
          <Details
            key={selected.span}
            trace={trace}
            detail={detail}
            attribute={attribute}
            onSelect={onSelect}
          />
        )}
      </Loaded>
    </div>
  );
}

type DetailsProps = { trace: TraceOutline; detail: SpanDetail; attribute: string | null; onSelect: Select };

function Details({ trace, detail, attribute, onSelect }: DetailsProps) {
  const [drafting, setDrafting] = useState<DraftPlace>();
  const { span_id: spanId } = detail.span;
  return (
    <>
      <SpanHeader
        trace={trace}
        detail={detail}
        selected={attribute === null}
        onSelect={onSelect}
        onDraft={() => setDrafting({ spanId, attribute: null, path: [] })}
      />
      <SpanAttributes
        detail={detail}
        selected={attribute}
        onSelect={name => onSelect({ span: spanId, attribute: name })}
        onDraft={(name, path) => setDrafting({ spanId, attribute: name, path })}
      />
      <SpanExtras trace={trace} detail={detail} />
      {drafting && <AssertionDialog trace={trace} place={drafting} onClose={() => setDrafting(undefined)} />}
    </>
  );
}

function selectedText({ span }: SpanDetail, attribute: string | null): string {
  return attribute === null ? `Span ${span.name}` : `Attribute ${attribute} of span ${span.name}`;
}
