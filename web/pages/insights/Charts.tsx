// The charts of one series: pass rate and outcomes; for an agent also durations and tokens.

import { useMemo } from "react";
import type { Insights, Point } from "../../../src/http/projects/insights-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { durationText, numberText, rateText, shortText } from "../../format.ts";
import { notFullyEvaluated, outcomes, routingUnavailable } from "../../labels.ts";
import { Icon } from "../../ui/Icon.tsx";
import { type Column, type Fact, type Frame, Plot } from "./Plot.tsx";
import { type CountedUrl, countedOnly } from "./view.ts";

/** From the axis upwards. Failures are at the bottom, where bar heights can be compared. */
export const stacked: Outcome[] = ["failed", "missing_instrumentation", "passed", "skipped"];

type ChartsProps = {
  insights: Insights;
  points: Point[];
  /** What is counted: "Evaluations", or "Results" of one test. */
  noun: string;
  urlOf: CountedUrl;
  /** Present when the series is one test's. */
  testId?: string | undefined;
};

export function Charts({ insights, points, noun, urlOf, testId }: ChartsProps) {
  const { interval } = insights;
  const frame: Frame = useMemo(
    () => ({ from: Date.parse(insights.from), to: Date.parse(insights.to), interval }),
    [insights.from, insights.to, interval],
  );
  const columns = useMemo(() => columnsOf(points, urlOf, noun, testId), [points, urlOf, noun, testId]);
  const ofAgent = testId === undefined;
  const banded = points.some(point => point.routingUnavailable);
  return (
    <div className="charts">
      <Plot
        title="Pass rate"
        about={
          <span className="quiet small">
            Skipped, missing instrumentation and not fully evaluated are not counted
          </span>
        }
        frame={frame}
        columns={columns.map(({ segments: _, ...column }) => column)}
        lines={[{ word: "Pass rate", fill: "rate", values: points.map(({ passRate }) => passRate) }]}
        legend={[]}
        top={1}
        fixed
        unit={rate => `${Math.round(rate * 100)}%`}
        height={120}
      />
      <Plot
        title={`${noun} by outcome`}
        about={
          banded && (
            <span className="small text-warn">
              <Icon name={routingUnavailable.icon} />
              Bands: {routingUnavailable.text.toLowerCase()}
            </span>
          )
        }
        frame={frame}
        columns={columns}
        legend={[
          ...stacked.map(outcome => ({ word: outcomes[outcome].text, fill: outcome })),
          ...(points.some(point => point.notFullyEvaluated > 0)
            ? [{ word: notFullyEvaluated.text, fill: "not_fully_evaluated" as const }]
            : []),
        ]}
        top={Math.max(4, ...points.map(totalOf))}
        unit={shortText}
        height={240}
      />
      {ofAgent && <Durations frame={frame} points={points} urlOf={urlOf} />}
      {ofAgent && <Tokens frame={frame} points={points} urlOf={urlOf} />}
    </div>
  );
}

type PartProps = { frame: Frame; points: Point[]; urlOf: CountedUrl };

function Durations({ frame, points, urlOf }: PartProps) {
  const of = (share: "p50" | "p95") => points.map(({ durationMs }) => durationMs?.[share] ?? null);
  const legend = [
    { word: "p95", fill: "second", line: true },
    { word: "p50", fill: "first", line: true },
  ] as const;
  const columns = points.map(({ at, durationMs }) => ({
    ...placeOf(at, urlOf),
    facts: [
      { ...legend[0], text: timeText(durationMs?.p95) },
      { ...legend[1], text: timeText(durationMs?.p50) },
    ],
  }));
  return (
    <Plot
      title="Duration"
      frame={frame}
      columns={columns}
      lines={[
        { word: "p95", fill: "second", values: of("p95") },
        { word: "p50", fill: "first", values: of("p50") },
      ]}
      legend={[...legend]}
      top={Math.max(1, ...of("p95").map(value => value ?? 0))}
      unit={durationText}
      height={180}
    />
  );
}

function Tokens({ frame, points, urlOf }: PartProps) {
  const columns = points.map(({ at, tokens = { input: 0, output: 0 } }): Column => {
    return {
      ...placeOf(at, urlOf),
      facts: [
        { word: "Output", text: numberText(tokens.output), fill: "second" },
        { word: "Input", text: numberText(tokens.input), fill: "first" },
      ],
      segments: [
        { fill: "first", value: tokens.input },
        { fill: "second", value: tokens.output },
      ],
    };
  });
  return (
    <Plot
      title="Tokens"
      frame={frame}
      columns={columns}
      legend={[
        { word: "Input", fill: "first" },
        { word: "Output", fill: "second" },
      ]}
      top={Math.max(4, ...points.map(({ tokens }) => (tokens ? tokens.input + tokens.output : 0)))}
      unit={shortText}
      height={180}
    />
  );
}

function columnsOf(points: Point[], urlOf: CountedUrl, noun: string, testId: string | undefined): Column[] {
  return points.map(point => {
    const at = Date.parse(point.at);
    const facts: Fact[] = [
      { word: noun, text: numberText(point.runs ?? totalOf(point)) },
      { word: "Pass rate", text: rateText(point.passRate) },
      ...[...stacked].reverse().map(outcome => ({
        word: outcomes[outcome].text,
        text: numberText(point.counts[outcome]),
        fill: outcome,
      })),
    ];
    if (point.notFullyEvaluated > 0)
      facts.push({
        word: notFullyEvaluated.text,
        text: numberText(point.notFullyEvaluated),
        fill: "not_fully_evaluated",
      });
    if (point.runs && point.runs > totalOf(point))
      facts.push({ word: "No verdict", text: numberText(point.runs - totalOf(point)) });
    if (point.routingUnavailable)
      facts.push({
        word: routingUnavailable.text,
        text: numberText(point.routingUnavailable),
        fill: "unavailable",
      });
    return {
      at,
      href: urlOf({ testId }, at),
      facts,
      marked: Boolean(point.routingUnavailable),
      segments: [
        ...stacked.map(outcome => ({
          fill: outcome,
          value: point.counts[outcome],
          own: {
            label: `${numberText(point.counts[outcome])} ${outcomes[outcome].text.toLowerCase()}`,
            href: urlOf({ testId, outcome, ...countedOnly(point) }, at),
          },
        })),
        {
          fill: "not_fully_evaluated",
          value: point.notFullyEvaluated,
          own: {
            label: `${numberText(point.notFullyEvaluated)} ${notFullyEvaluated.text.toLowerCase()}`,
            href: urlOf({ testId, fullyEvaluated: false }, at),
          },
        },
      ],
    };
  });
}

function placeOf(at: string, urlOf: CountedUrl): Pick<Column, "at" | "href"> {
  const time = Date.parse(at);
  return { at: time, href: urlOf({}, time) };
}

/** A dash when the duration is unknown. */
export function timeText(ms: number | null | undefined): string {
  return ms == null ? "–" : durationText(ms);
}

export function totalOf({ counts, notFullyEvaluated }: Pick<Point, "counts" | "notFullyEvaluated">): number {
  return stacked.reduce((sum, outcome) => sum + counts[outcome], notFullyEvaluated);
}
