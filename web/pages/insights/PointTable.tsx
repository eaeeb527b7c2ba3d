// The numbers of the charts as a table, latest interval first.

import type { Insights, Point } from "../../../src/http/projects/insights-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { numberText, rateText } from "../../format.ts";
import { counted, notFullyEvaluated, outcomes, routingUnavailable } from "../../labels.ts";
import { useFollow } from "../../shell/follow.ts";
import { timeText, totalOf } from "./Charts.tsx";
import { intervalText } from "./utc-times.ts";
import { type CountedUrl, countedOnly, lengthOf } from "./view.ts";

const shown: Outcome[] = ["passed", "failed", "missing_instrumentation", "skipped"];

type PointTableProps = {
  insights: Insights;
  points: Point[];
  noun: string;
  urlOf: CountedUrl;
  testId?: string | undefined;
};

export function PointTable({ insights, points, noun, urlOf, testId }: PointTableProps) {
  const follow = useFollow();
  const { from, to, interval } = insights;
  const all = Math.round((Date.parse(to) - Date.parse(from)) / lengthOf(interval));
  const ofAgent = testId === undefined;
  const headings = [
    interval === "hour" ? "Hour (UTC)" : "Day (UTC)",
    noun,
    "Pass rate",
    ...shown.map(outcome => outcomes[outcome].text),
    notFullyEvaluated.text,
    ...(ofAgent ? [routingUnavailable.text, "p50", "p95", "Tokens in", "Tokens out"] : []),
  ];
  const number = (label: string, value: number | undefined, href?: string) => (
    <td key={label} data-label={label} className="number">
      {value && href ? <a href={href}>{numberText(value)}</a> : numberText(value ?? 0)}
    </td>
  );
  return (
    <>
      <div className="table-wrap" ref={follow}>
        <table className="table">
          <caption className="unseen">{noun} by outcome over time</caption>
          <thead>
            <tr>
              {headings.map((heading, index) => (
                <th key={heading} scope="col" className={index > 0 ? "number" : ""}>
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...points].reverse().map(point => {
              const at = Date.parse(point.at);
              const { counts, durationMs, tokens } = point;
              return (
                <tr key={at}>
                  <th scope="row">{intervalText(at, interval)}</th>
                  {number(noun, point.runs ?? totalOf(point), urlOf({ testId }, at))}
                  <td data-label="Pass rate" className="number">
                    {rateText(point.passRate)}
                  </td>
                  {shown.map(outcome =>
                    number(
                      outcomes[outcome].text,
                      counts[outcome],
                      urlOf({ testId, outcome, ...countedOnly(point) }, at),
                    ),
                  )}
                  {number(
                    notFullyEvaluated.text,
                    point.notFullyEvaluated,
                    urlOf({ testId, fullyEvaluated: false }, at),
                  )}
                  {ofAgent && (
                    <>
                      {number(
                        routingUnavailable.text,
                        point.routingUnavailable,
                        urlOf({ routing: "unavailable" }, at),
                      )}
                      <td data-label="p50" className="number">
                        {timeText(durationMs?.p50)}
                      </td>
                      <td data-label="p95" className="number">
                        {timeText(durationMs?.p95)}
                      </td>
                      {number("Tokens in", tokens?.input)}
                      {number("Tokens out", tokens?.output)}
                    </>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {all > points.length && (
        <p className="quiet small">
          Not shown: {all - points.length} of {counted(all, interval)} without data
        </p>
      )}
    </>
  );
}
