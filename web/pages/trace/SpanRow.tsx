// A row of the span tree: name, kind, marks, tokens, duration and bar.

import { type CSSProperties, memo } from "react";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { whyText } from "../../cost.ts";
import { durationText } from "../../format.ts";
import { counted, outcomes, spanRoles } from "../../labels.ts";
import { moneyText } from "../../money.ts";
import { Icon } from "../../ui/Icon.tsx";
import { percentAt, type Stretch } from "./times.ts";
import type { Row } from "./tree.ts";
import { tokensText } from "./words.ts";

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
  /** Of a closed parent: it or a span in it failed. */
  hasFailed: boolean;
  /** The worst of the checks that looked at it, or of a closed parent at any span in it, and their number. */
  outcome: Outcome | undefined;
  checks: number;
  stretch: Stretch;
};

/** Deeper rows show their depth as a number instead, since indentation would push the text out of view. */
const indentedMax = 8;

export const SpanRow = memo(function SpanRow(props: SpanRowProps) {
  const { row, position, top, isFolded, isActive, isPassing, hasFailed, outcome, checks } = props;
  const { span, depth, durationMs, stray } = row;
  const role = spanRoles[span.role];
  const tokens = span.tokens && tokensText(span.tokens);
  const cost = span.call && callText(span.call);
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
        <span className="tree-text" title={span.detail ? `${span.name} (${span.detail})` : span.name}>
          {span.name || "Unnamed"}
          {span.detail && !span.name.includes(span.detail) && <span className="quiet"> {span.detail}</span>}
        </span>
        {hasFailed && (
          <span className="tree-failed" title={span.failed ? "Failed" : "A span in it failed"}>
            <Icon name="warning" />
          </span>
        )}
        {outcome && (
          <span className="tree-mark" data-tone={outcomes[outcome].tone} title={checksText(outcome, checks)}>
            <Icon name={outcomes[outcome].icon} />
            {checks > 1 && checks}
          </span>
        )}
      </span>
      <span
        className="tree-tokens quiet figures"
        title={tokens ? [tokens, cost].filter(Boolean).join(", ") : undefined}
      >
        {span.tokens && compactText((span.tokens.input ?? 0) + (span.tokens.output ?? 0))}
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

function checksText(outcome: Outcome, checks: number): string {
  return `${outcomes[outcome].text}: ${counted(checks, "check")}`;
}

function labelOf({ row: { span, stray, durationMs }, hasFailed, outcome, checks }: SpanRowProps): string {
  const tokens = span.tokens && tokensText(span.tokens);
  return [
    span.name || "Unnamed",
    spanRoles[span.role].text + (span.detail ? ` ${span.detail}` : ""),
    hasFailed && (span.failed ? "Failed" : "A span in it failed"),
    stray && strays[stray],
    outcome && checksText(outcome, checks),
    tokens && `${tokens} tokens`,
    span.call && span.call.costUsd !== null && moneyText(span.call.costUsd),
    durationMs === null ? "no duration" : durationText(durationMs),
  ]
    .filter(Boolean)
    .join(", ");
}

function callText({ costUsd, model, why }: NonNullable<Row["span"]["call"]>): string | null {
  if (costUsd !== null) return moneyText(costUsd);
  return why && whyText({ model, why });
}

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** "955", "12.3K". */
function compactText(count: number): string {
  return compact.format(count);
}
