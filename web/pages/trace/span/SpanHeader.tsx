// The header of a span: name, status, times, ids and parent.
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import type { SpanDetail, TraceOutline } from "../../../../src/http/traces/schemas.ts";
import { whyText } from "../../../cost.ts";
import { printExact } from "../../../exact-json.ts";
import { durationText } from "../../../format.ts";
import { spanRoles, type Word } from "../../../labels.ts";
import { moneyText } from "../../../money.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { CopyText } from "../../../ui/Copy.tsx";
import { copyText } from "../../../ui/copy-text.ts";
import { TraceText } from "../../../ui/TraceText.tsx";
import { useCopyLink } from "../links.ts";
import type { Select } from "../selection.ts";
import { tokensText } from "../words.ts";
import { millisecondsBetween, nanosText } from "./times.ts";

const statuses: Record<"ok" | "failed", Word> = {
  ok: { text: "OK", icon: "check", tone: "good" },
  failed: { text: "Failed", icon: "cross", tone: "bad" },
};
/** Finish reasons that tell that the reply is not whole, in the words of the providers. */
const cutOffs: [reason: RegExp, word: Word][] = [
  [
    /(?:^|[._])(?:length|max_?tokens|max_output_tokens|model_context_window_exceeded)$/i,
    { text: "Cut off at the token limit", icon: "warning", tone: "warn" },
  ],
  [
    /(?:^|[._])(?:content_?-?filter(?:ed)?|guardrail_intervened|safety|recitation|blocklist|prohibited_content)$/i,
    { text: "Stopped by a content filter", icon: "warning", tone: "warn" },
  ],
];

const cutOffOf = (reason: string) => cutOffs.find(([pattern]) => pattern.test(reason))?.[1];

const kinds = ["Unspecified", "Internal", "Server", "Client", "Producer", "Consumer"];

type SpanHeaderProps = {
  trace: TraceOutline;
  detail: SpanDetail;
  /** The span itself is selected, not one of its attributes. */
  selected: boolean;
  onSelect: Select;
  onDraft: () => void;
};

export function SpanHeader({ trace, detail, selected, onSelect, onDraft }: SpanHeaderProps) {
  const { span, cuts } = detail;
  const copyLink = useCopyLink();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (selected) box.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const row = trace.spans.find(({ spanId }) => spanId === span.span_id);
  const cutOff = detail.finishReasons.map(cutOffOf).find(word => word !== undefined);
  const message = messageOf(detail);
  const code = span.status?.code;
  return (
    <header ref={box} className="span-top" data-selected={selected || undefined}>
      <div className="line">
        <h2>{span.name}</h2>
        <Badge word={spanRoles[row?.role ?? "other"]} />
        {code === 2 && <Badge word={statuses.failed} />}
        {code === 1 && <Badge word={statuses.ok} />}
        {cutOff && <Badge word={cutOff} />}
      </div>
      {message && (
        <p className="span-message">
          <TraceText text={message} />
        </p>
      )}
      <Facts trace={trace} detail={detail} onSelect={onSelect} />
      <div className="line">
        <Button small icon="assert" onClick={onDraft}>
          Create assertion
        </Button>
        <Button small icon="link" onClick={() => copyLink({ span: span.span_id })}>
          Copy link
        </Button>
        {cuts.length === 0 && (
          <Button small icon="copy" onClick={() => void copyText(printExact(span), "span")}>
            Copy span
          </Button>
        )}
      </div>
    </header>
  );
}

function messageOf({ span, error }: SpanDetail): string | null {
  return span.status?.message || error;
}

function Facts({
  trace,
  detail: { span, finishReasons },
  onSelect,
}: Omit<SpanHeaderProps, "selected" | "onDraft">) {
  const { start_time_unix_nano: start, end_time_unix_nano: end, parent_span_id: parent, scope } = span;
  const duration = millisecondsBetween(start, end);
  const row = trace.spans.find(({ spanId }) => spanId === span.span_id);
  const offset = millisecondsBetween(trace.startTimeUnixNano, start);
  return (
    <dl className="facts">
      <Fact name="Started">{start ? <Moment nanos={start} offset={offset} /> : quiet("no start time")}</Fact>
      <Fact name="Duration">
        {duration === null
          ? quiet(start ? "no end time" : "no times")
          : duration < 0
            ? quiet("ended before it started")
            : durationText(duration)}
      </Fact>
      <Fact name="Span id">
        <CopyText text={span.span_id} label="span id" />
      </Fact>
      <Fact name="Parent">
        <Parent trace={trace} id={parent} onSelect={onSelect} />
      </Fact>
      {finishReasons.length > 0 && <Fact name="Finish reason">{finishReasons.join(", ")}</Fact>}
      {row?.tokens && <Fact name="Tokens">{tokensText(row.tokens)}</Fact>}
      {row?.call && (
        <Fact name="Cost">
          {row.call.costUsd === null ? quiet(whyOf(row.call)) : moneyText(row.call.costUsd)}
        </Fact>
      )}
      {row?.call?.model && (
        <Fact name="Model">
          {row.call.model} {row.call.provider && quiet(row.call.provider)}
        </Fact>
      )}
      {span.kind !== undefined && <Fact name="Kind">{kinds[span.kind] ?? String(span.kind)}</Fact>}
      {scope?.name && (
        <Fact name="Scope">
          {scope.name} {scope.version && quiet(scope.version)}
        </Fact>
      )}
    </dl>
  );
}

function whyOf({ model, why }: NonNullable<TraceOutline["spans"][number]["call"]>): string {
  return why === null ? "no tokens" : whyText({ model, why });
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Moment({ nanos, offset }: { nanos: string; offset: number | null }) {
  const { text, exact, iso } = nanosText(nanos);
  const sign = offset !== null && offset < 0 ? "−" : "+";
  return (
    <>
      {offset !== null && <span>{`${sign}${durationText(Math.abs(offset))}`}</span>}
      <time dateTime={iso} title={exact} className="quiet">
        {text}
      </time>
    </>
  );
}

function Parent({ trace, id, onSelect }: { trace: TraceOutline; id: string | null; onSelect: Select }) {
  if (!id) return quiet("none (root)");
  const parent = trace.spans.find(({ spanId }) => spanId === id);
  if (!parent)
    return (
      <>
        {quiet("not in the trace:")} <CopyText text={id} label="parent id" />
      </>
    );
  return (
    <Button look="link" className="break" onClick={() => onSelect({ span: id, attribute: null })}>
      {parent.name}
    </Button>
  );
}

function quiet(text: string) {
  return <span className="quiet">{text}</span>;
}
