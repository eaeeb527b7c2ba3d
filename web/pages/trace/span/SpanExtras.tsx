// Events, log records and links of a span, what its SDK dropped, and its scope, context, resource and metadata.
import type { ReactNode } from "react";
import type { SpanDetail, TraceOutline } from "../../../../src/http/traces/schemas.ts";
import type { LogRecord } from "../../../../src/model/trace/trace.ts";
import { durationText, numberText } from "../../../format.ts";
import { isRecord } from "../../../record.ts";
import { countedIfAny, droppedAttributes, droppedText } from "./dropped.ts";
import { SpanValue } from "./SpanValue.tsx";
import { millisecondsBetween } from "./times.ts";

export function SpanExtras({ trace, detail }: { trace: TraceOutline; detail: SpanDetail }) {
  const { span } = detail;
  const { scope } = span;
  const dropped = droppedText(span);
  const context = {
    trace_state: span.trace_state,
    flags: span.flags,
    schema_url: scope?.schema_url,
    resource_schema_url: span.resource_schema_url,
  };
  return (
    <>
      {dropped && <p className="span-part small">{dropped}</p>}
      <Events title="Events" events={span.events} start={span.start_time_unix_nano} />
      <Events
        title="Log records"
        events={(span.log_records ?? []).map(eventOf)}
        start={span.start_time_unix_nano}
      />
      <Values title="Links" value={span.links} />
      <Values title="Scope" value={scope?.attributes} />
      <Values title="Context" value={withoutAbsent(context)} />
      <Values title="Resource" value={span.resource ?? trace.resource} />
      <Values title="Metadata" value={trace.metadata} />
    </>
  );
}

const eventsMax = 200;

function Events({ title, events, start }: { title: string; events: unknown[]; start: string | null }) {
  if (events.length === 0) return null;
  return (
    <div className="span-part">
      <h3>
        {title} <span className="quiet">{numberText(events.length)}</span>
      </h3>
      <ul>
        {events.slice(0, eventsMax).map((event, at) => (
          <Event key={at} event={event} start={start} />
        ))}
      </ul>
      {events.length > eventsMax && (
        <p className="quiet small">First {eventsMax} shown. Copy the span for the rest.</p>
      )}
    </div>
  );
}

/** A log record in the shape of an event, its body among the attributes. */
function eventOf({ event_name: name, body, attributes, ...rest }: LogRecord): object {
  return { ...rest, name, attributes: isEmpty(body) || body === "" ? attributes : { body, ...attributes } };
}

/** Events are stored unchecked; most have a name, a time and attributes. */
function Event({ event, start }: { event: unknown; start: string | null }) {
  const { name, time_unix_nano: time, attributes } = isRecord(event) ? event : {};
  const offset = typeof time === "string" ? millisecondsBetween(start, time) : null;
  const isPlain = typeof name === "string" && name !== "";
  const dropped = countedIfAny(droppedAttributes(event), "attribute");
  const title = isPlain ? name : "Event";
  return (
    <li className="span-event">
      <p className="line">
        <strong className="break">{title}</strong>
        {offset !== null && (
          <span className="quiet small">{`${offset < 0 ? "−" : "+"}${durationText(Math.abs(offset))}`}</span>
        )}
        {dropped && <span className="quiet small">{dropped} dropped</span>}
      </p>
      {isPlain && isEmpty(attributes) ? null : (
        <SpanValue value={isPlain ? attributes : event} label={title} />
      )}
    </li>
  );
}

function Values({ title, value }: { title: string; value: object | null | undefined }): ReactNode {
  if (value === undefined || value === null || isEmpty(value)) return null;
  return (
    <details className="span-part">
      <summary>
        {title} <span className="quiet">{Object.keys(value).length}</span>
      </summary>
      <SpanValue value={value} label={title} />
    </details>
  );
}

function withoutAbsent(value: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0)
  );
}
