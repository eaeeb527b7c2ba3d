// A chart over time: one column per interval with stacked bars, lines or both. Every column and bar is a link.
import { scaleLinear } from "@visx/scale";
import { LinePath } from "@visx/shape";
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Interval } from "../../queries/insights-span.ts";
import { useFollow } from "../../shell/follow.ts";
import { labelMiddle, leftGutter } from "./axis-labels.ts";
import { PlotHover } from "./PlotHover.tsx";
import { useRoving } from "./roving.ts";
import { type Fill, fillOf, Swatch } from "./Swatch.tsx";
import { intervalText, tickText } from "./utc-times.ts";
import { lengthOf } from "./view.ts";

/** Milliseconds; `to` is exclusive. */
export type Frame = { from: number; to: number; interval: Interval };

/** One bar. Without `own` it belongs to its column's link. */
export type Segment = { fill: Fill; value: number; own?: { label: string; href: string } };

/** One interval; `facts` appear on hover and focus. */
export type Column = { at: number; href: string; facts: Fact[]; segments?: Segment[]; marked?: boolean };
export type Fact = { word: string; text: string } & Partial<Mark>;

/** How the fact looks in the chart: a fill, or a line of that color. */
type Mark = { fill: Fill; line: boolean };

/** One value per column. The line has a gap where a value is null or a column is missing. */
export type Line = { word: string; fill: Fill; values: (number | null)[] };

type PlotProps = {
  title: string;
  /** Beside the title. */
  about?: ReactNode;
  frame: Frame;
  columns: Column[];
  lines?: Line[];
  /** In the order of the bars, from the axis upwards. */
  legend: { word: string; fill: Fill; line?: boolean }[];
  /** The end of the value axis: exactly this if `fixed`, else at least this. */
  top: number;
  fixed?: boolean;
  unit: (number: number) => string;
  height: number;
};

const gutter = { right: 22, top: 8, bottom: 24 };
/** Pixels, so that one failure among thousands stays visible. */
const segmentMin = 2;

export function Plot(props: PlotProps) {
  const { title, about, frame, columns, legend, top, fixed, unit, height } = props;
  const svg = useRef<SVGSVGElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const width = useWidth(box);
  const follow = useFollow();
  useRoving(svg);
  const length = lengthOf(frame.interval);
  const count = Math.round((frame.to - frame.from) / length);
  const y = useMemo(() => {
    const range = [height - gutter.bottom, gutter.top];
    return scaleLinear<number>({ domain: [0, top], range, nice: fixed ? false : gridLinesIn(height) });
  }, [top, fixed, height]);
  const left = leftGutter(y.ticks(gridLinesIn(height)).map(unit));
  const step = Math.max(width - left - gutter.right, 1) / count;
  const place = { left, step, count };
  return (
    <section className="plot" aria-labelledby={id} ref={follow}>
      <div className="plot-top">
        <h2 id={id}>{title}</h2>
        {about}
        <ul className="legend">
          {legend.map(({ word, fill, line }) => (
            <li key={word}>
              <Swatch fill={fill} line={line} />
              {word}
            </li>
          ))}
        </ul>
      </div>
      <div className="plot-box" ref={box} style={{ height }}>
        {width > 0 && (
          // biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset; its links are the keyboard's.
          <svg ref={svg} role="group" aria-labelledby={id} width={width} height={height}>
            <Drawing {...props} y={y} left={left} step={step} count={count} width={width} />
          </svg>
        )}
        <PlotHover box={box} svg={svg} frame={frame} place={place} columns={columns} />
      </div>
    </section>
  );
}

type DrawingProps = PlotProps & {
  y: ReturnType<typeof scaleLinear<number>>;
  /** Of the value axis. */
  left: number;
  step: number;
  count: number;
  width: number;
};

function Drawing(props: DrawingProps) {
  const { frame, columns, lines = [], unit, height, y, left, step, count, width } = props;
  const length = lengthOf(frame.interval);
  const x = (at: number) => left + ((at - frame.from) / length) * step;
  const [bottom, ceiling] = [height - gutter.bottom, gutter.top];
  return (
    <>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus. */}
      <g aria-hidden="true">
        {y.ticks(gridLinesIn(height)).map(value => (
          <g key={value} className="plot-tick">
            <line x1={left} x2={width - gutter.right} y1={y(value)} y2={y(value)} />
            <text x={left - 8} y={y(value)} dy="0.32em" textAnchor="end">
              {unit(value)}
            </text>
          </g>
        ))}
        {ticksOf(frame, step).map(at => {
          const label = tickText(at, frame.interval);
          const middle = labelMiddle(x(at), label, width);
          return (
            <text key={at} x={middle} y={height - 6} textAnchor="middle">
              {label}
            </text>
          );
        })}
        {columns
          .filter(({ marked }) => marked)
          .map(({ at }) => (
            <g key={at}>
              <rect
                x={x(at)}
                y={ceiling}
                width={step}
                height={bottom - ceiling}
                fill={fillOf("unavailable")}
              />
              <rect className="plot-band-edge" x={x(at)} y={ceiling} width={step} height={3} />
            </g>
          ))}
      </g>
      {columns.map(column => (
        <ColumnLinks
          key={column.at}
          column={column}
          interval={frame.interval}
          box={{ left: x(column.at), step, top: ceiling, bottom }}
          heightOf={value => bottom - y(value)}
        />
      ))}
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus. */}
      <g aria-hidden="true" className="plot-lines">
        {lines.map(line => (
          <Polyline
            key={line.word}
            line={line}
            columns={columns}
            count={count}
            frame={frame}
            x={at => x(at) + step / 2}
            y={y}
          />
        ))}
      </g>
    </>
  );
}

type ColumnLinksProps = {
  column: Column;
  interval: Interval;
  box: { left: number; step: number; top: number; bottom: number };
  heightOf: (value: number) => number;
};

/** A link for the whole interval and, in front of it, a link per bar, from the axis upwards. */
function ColumnLinks({ column, interval, box, heightOf }: ColumnLinksProps) {
  const { at, href, facts, segments = [] } = column;
  const when = `${intervalText(at, interval)} UTC`;
  const gap = box.step > 4 ? Math.min(box.step * 0.2, 6) : 0.5;
  let base = box.bottom;
  return (
    <g>
      <a
        href={href}
        data-at={at}
        data-kind="all"
        tabIndex={-1}
        aria-label={`${when}: ${facts.map(({ word, text }) => `${word} ${text}`).join(", ")}`}
      >
        <rect
          className="plot-column"
          x={box.left}
          y={box.top}
          width={box.step}
          height={box.bottom - box.top}
        />
      </a>
      {segments
        .filter(({ value }) => value > 0)
        .map(({ fill, value, own }) => {
          const tall = Math.max(heightOf(value), segmentMin);
          base -= tall;
          const bar = (
            <rect
              key={fill}
              className={own ? "plot-segment" : "plot-part"}
              x={box.left + gap / 2}
              y={base}
              width={Math.max(box.step - gap, 1)}
              // A gap of one pixel between bars, so that they can be told apart without color.
              height={Math.max(tall - 1, 1)}
              fill={fillOf(fill, box.step - gap)}
            />
          );
          if (!own) return bar;
          const { href, label } = own;
          return (
            <a
              key={fill}
              href={href}
              data-at={at}
              data-kind={fill}
              tabIndex={-1}
              aria-label={`${when}: ${label}`}
            >
              {bar}
            </a>
          );
        })}
    </g>
  );
}

type PolylineProps = {
  line: Line;
  columns: Column[];
  frame: Frame;
  count: number;
  x: (at: number) => number;
  y: (value: number) => number;
};

function Polyline({ line, columns, frame, count, x, y }: PolylineProps) {
  const known = new Map(columns.map(({ at }, index) => [at, line.values[index]]));
  const length = lengthOf(frame.interval);
  const spots = Array.from({ length: count }, (_, index) => {
    const at = frame.from + index * length;
    return { at, value: known.get(at) ?? null };
  });
  const isIsolated = (index: number) => spots[index - 1]?.value == null && spots[index + 1]?.value == null;
  return (
    <g className={`plot-line-${line.fill}`}>
      <LinePath
        data={spots}
        x={({ at }) => x(at)}
        y={({ value }) => y(value ?? 0)}
        defined={({ value }) => value !== null}
      />
      {spots.map(
        ({ at, value }, index) =>
          value !== null &&
          (count <= 31 || isIsolated(index)) && <circle key={at} cx={x(at)} cy={y(value)} r={2.5} />,
      )}
    </g>
  );
}

/** The number of grid lines that fit. */
function gridLinesIn(height: number): number {
  return Math.max(2, Math.floor((height - gutter.top - gutter.bottom) / 50));
}

const labelWidth = 64;
const everyHours = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672, 1344, 2688];

/** The intervals labeled under the axis: midnights first, as many as fit. */
function ticksOf({ from, to, interval }: Frame, step: number): number[] {
  const length = lengthOf(interval);
  const hours = length / 3_600_000;
  const every = everyHours.find(hour => hour >= hours && (hour / hours) * step >= labelWidth) ?? 5376;
  const spacing = every * 3_600_000;
  // Multiples of `spacing` since 1970, so that days are labeled at midnight.
  const first = Math.ceil(from / spacing) * spacing;
  const ticks: number[] = [];
  for (let at = first; at < to; at += spacing) ticks.push(at);
  return ticks;
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
