// A small chart of outcomes over time. Its numbers are in the row next to it.
import type { Insights, Point } from "../../../src/http/projects/insights-schemas.ts";
import { stacked, totalOf } from "./Charts.tsx";
import { fillOf } from "./Swatch.tsx";
import { lengthOf } from "./view.ts";

const width = 180;
const height = 26;

type SparklineProps = { insights: Insights; points: Point[] };

export function Sparkline({ insights: { from, to, interval }, points }: SparklineProps) {
  const begin = Date.parse(from);
  const length = lengthOf(interval);
  const step = width / Math.round((Date.parse(to) - begin) / length);
  const most = Math.max(1, ...points.map(totalOf));
  return (
    <svg className="spark" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {points.map(({ at, counts }) => {
        let base = height;
        return stacked
          .filter(outcome => counts[outcome] > 0)
          .map(outcome => {
            const tall = Math.max((counts[outcome] / most) * height, 2);
            base -= tall;
            return (
              <rect
                key={`${at} ${outcome}`}
                x={((Date.parse(at) - begin) / length) * step}
                y={base}
                width={Math.max(step * 0.8, 1)}
                height={Math.max(tall - 1, 1)}
                fill={fillOf(outcome, step)}
              />
            );
          });
      })}
    </svg>
  );
}
