// A row of the span tree: name, role, marks, duration and bar.
import { type CSSProperties, memo } from "react";
import { durationText } from "../../format.ts";
import { counted, outcomes, spanRoles } from "../../labels.ts";
import { Icon } from "../../ui/Icon.tsx";
import { percentAt, type Stretch } from "./times.ts";
import type { Pointed, Row } from "./tree.ts";

type SpanRowProps = {
  row: Row;
  position: number;
  /** Pixels from the first row. */
  top: number;
  /** Null: no children. */
  isFolded: boolean | null;
  isActive: boolean;
  /** Not a match itself, only an ancestor of one. */
  isPassing: boolean;
  pointed: Pointed | undefined;
  stretch: Stretch;
};

/** Deeper rows show their depth as a number instead, since indentation would push the text out of view. */
const indentedMax = 8;

export const SpanRow = memo(function SpanRow(props: SpanRowProps) {
  const { row, position, top, isFolded, isActive, isPassing, pointed } = props;
  const { span, depth, durationMs, stray } = row;
  const role = spanRoles[span.role];
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names its active row.
    <div
      id={`span-${position}`}
      className="tree-row"
      role="treeitem"
      aria-label={labelOf(props)}
      aria-level={depth + 1}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-selected={isActive}
      {...(isFolded !== null && { "aria-expanded": !isFolded })}
      data-position={position}
      data-passing={isPassing || undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className="tree-name" style={{ "--depth": Math.min(depth, indentedMax) } as CSSProperties}>
        <span className="tree-fold" data-folded={isFolded ?? undefined}>
          {isFolded !== null && <Icon name="chevron" />}
        </span>
        {depth > indentedMax && <span className="tree-depth quiet">{depth}</span>}
        <span className="tree-role" data-role={span.role} title={role.text}>
          <Icon name={role.icon} />
        </span>
        {stray && (
          <span className="text-warn" title={strays[stray]}>
            <Icon name="warning" />
          </span>
        )}
        <span className="tree-text" title={span.name}>
          {span.name || "Unnamed"}
          {span.detail && !span.name.includes(span.detail) && <span className="quiet"> {span.detail}</span>}
        </span>
        {span.failed && (
          <span className="tree-failed" title="Failed">
            <Icon name="warning" />
          </span>
        )}
        {pointed && (
          <span className="tree-mark" data-tone={outcomes[pointed.outcome].tone} title={pointedText(pointed)}>
            <Icon name={outcomes[pointed.outcome].icon} />
            {pointed.checks > 1 && pointed.checks}
          </span>
        )}
      </span>
      <span className="tree-duration figures">{durationMs === null ? "–" : durationText(durationMs)}</span>
      <Bar row={row} stretch={props.stretch} />
    </div>
  );
});

const strays = {
  orphan: "Parent not in the trace",
  cycle: "Span is its own ancestor",
};

function Bar({ row: { startMs, durationMs, span }, stretch }: { row: Row; stretch: Stretch }) {
  if (startMs === null) return <span className="tree-times" />;
  const from = percentAt(startMs, stretch);
  const to = percentAt(startMs + (durationMs ?? 0), stretch);
  const left = Math.max(-1, Math.min(100, from));
  return (
    <span className="tree-times">
      {to >= 0 && from <= 100 && (
        <span
          className="tree-bar"
          data-role={span.role}
          data-failed={span.failed || undefined}
          data-open={durationMs === null || undefined}
          style={{ insetInlineStart: `${left}%`, width: `${Math.min(101, to) - left}%` }}
        />
      )}
    </span>
  );
}

function pointedText({ outcome, checks }: Pointed): string {
  return `${outcomes[outcome].text}: ${counted(checks, "check")}`;
}

function labelOf({ row: { span, stray, durationMs }, pointed }: SpanRowProps): string {
  return [
    span.name || "Unnamed",
    spanRoles[span.role].text + (span.detail ? ` ${span.detail}` : ""),
    span.failed && "Failed",
    stray && strays[stray],
    pointed && pointedText(pointed),
    durationMs === null ? "no duration" : durationText(durationMs),
  ]
    .filter(Boolean)
    .join(", ");
}
