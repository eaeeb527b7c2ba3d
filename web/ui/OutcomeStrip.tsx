// Bar chart of daily outcomes: passed and skipped above the line, failed and missing instrumentation below.
import type { Counts, Outcome } from "../../src/model/run/outcome.ts";
import { dayText, numberText } from "../format.ts";
import { counted, countsText, notFullyEvaluated, outcomes } from "../labels.ts";

type Counted = { counts: Counts; notFullyEvaluated: number };
type Day = Counted & { at: string };

/** Outcomes differ by side and width, not only by color; listed in stacking order from the line. */
const bars: Record<Outcome, { side: -1 | 1; width: number }> = {
  passed: { side: -1, width: 5 },
  skipped: { side: -1, width: 2 },
  failed: { side: 1, width: 5 },
  missing_instrumentation: { side: 1, width: 2 },
};
const order = Object.keys(bars) as Outcome[];
const dayWidth = 6;
const half = 14;
/** The minimum height of a bar. */
const least = 2;

/** `about` starts the accessible name: "Refunds, last 30 days". */
export function OutcomeStrip({
  days,
  about,
  large,
}: {
  days: readonly Day[];
  about: string;
  large?: boolean;
}) {
  const scale = scaleOf(days);
  const width = days.length * dayWidth;
  const drawn = order.map(outcome => ({ outcome, path: pathOf(days, outcome, scale) }));
  return (
    <svg
      className={large ? "strip strip-large" : "strip"}
      viewBox={`0 0 ${width} ${2 * half + 1}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${about}: ${summaryOf(days)}`}
    >
      <path className="strip-line" d={`M0 ${half}h${width}v1H0z`} />
      {drawn.map(({ outcome, path }) => path && <path key={outcome} data-outcome={outcome} d={path} />)}
      {days.map(
        (day, index) =>
          isEvaluated(day) && (
            <rect
              key={day.at}
              className="strip-day"
              x={index * dayWidth}
              y={0}
              width={dayWidth}
              height={2 * half + 1}
            >
              <title>{`${dayText(day.at)}: ${evaluatedText(day)}`}</title>
            </rect>
          ),
      )}
    </svg>
  );
}

/** The legend of the bars, with counts if given. `others`: results that are not fully evaluated, which have no bar. */
export function OutcomeLegend({ counts, others = 0 }: { counts?: Counts; others?: number }) {
  return (
    <ul className="strip-legend">
      {order.map(outcome => {
        const { side, width } = bars[outcome];
        return (
          <li key={outcome}>
            <svg viewBox={`0 0 7 ${2 * half + 1}`} aria-hidden="true">
              <path className="strip-line" d={`M0 ${half}h7v1H0z`} />
              <path
                data-outcome={outcome}
                d={barOf(1, half - 2, side === -1 ? half : half + 1, side, width)}
              />
            </svg>
            {outcomes[outcome].text}
            {counts && <strong>{numberText(counts[outcome])}</strong>}
          </li>
        );
      })}
      {others > 0 && (
        <li>
          {notFullyEvaluated.text}
          <strong>{numberText(others)}</strong>
        </li>
      )}
    </ul>
  );
}

/** "4 passed, 1 failed". */
export function evaluatedText({ counts, notFullyEvaluated }: Counted): string {
  return countsText(counts, notFullyEvaluated) || "not evaluated";
}

export function isEvaluated({ counts, notFullyEvaluated }: Counted): boolean {
  return notFullyEvaluated > 0 || order.some(outcome => counts[outcome] > 0);
}

function summaryOf(days: readonly Day[]): string {
  const evaluated = days.filter(isEvaluated);
  if (evaluated.length === 0) return "not evaluated";
  const sum = (outcome: Outcome) => days.reduce((total, { counts }) => total + counts[outcome], 0);
  const counts = Object.fromEntries(order.map(outcome => [outcome, sum(outcome)])) as Counts;
  const notFullyEvaluated = days.reduce((total, day) => total + day.notFullyEvaluated, 0);
  return `${evaluatedText({ counts, notFullyEvaluated })}, on ${counted(evaluated.length, "day")}`;
}

/** Pixels per result: the largest side of any day fills its half. */
function scaleOf(days: readonly Day[]): number {
  const sides = days.flatMap(({ counts }) => [
    counts.passed + counts.skipped,
    counts.failed + counts.missing_instrumentation,
  ]);
  return half / Math.max(1, ...sides);
}

function pathOf(days: readonly Day[], outcome: Outcome, scale: number): string {
  const { side, width } = bars[outcome];
  const nearer = order.find(other => other !== outcome && bars[other].side === side);
  const inner = nearer !== undefined && order.indexOf(nearer) < order.indexOf(outcome) ? nearer : undefined;
  return days
    .map(({ counts }, index) => {
      if (counts[outcome] === 0) return "";
      const under = inner ? heightOf(counts[inner], scale) : 0;
      const height = Math.min(heightOf(counts[outcome], scale), half);
      const start = Math.min(under, half - Math.min(height, least));
      const reach = Math.min(height, half - start);
      return barOf(index * dayWidth, reach, side === -1 ? half - start : half + 1 + start, side, width);
    })
    .join("");
}

function heightOf(count: number, scale: number): number {
  return count === 0 ? 0 : Math.max(least, count * scale);
}

/** A bar from `from` outwards, centered in the day that starts at `x`. */
function barOf(x: number, height: number, from: number, side: -1 | 1, width: number): string {
  const left = x + (dayWidth - 1 - width) / 2;
  const round = (value: number) => Math.round(value * 100) / 100;
  return `M${round(left)} ${round(from)}h${width}v${round(side * height)}h${-width}z`;
}
