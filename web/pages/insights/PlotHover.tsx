// The tooltip of a chart: the numbers of the interval under the pointer or in focus. Esc hides it.
import { type RefObject, useEffect, useState } from "react";
import type { Column, Frame } from "./Plot.tsx";
import { Swatch } from "./Swatch.tsx";
import { intervalText } from "./utc-times.ts";
import { lengthOf } from "./view.ts";

type PlotHoverProps = {
  box: RefObject<HTMLDivElement | null>;
  svg: RefObject<SVGSVGElement | null>;
  frame: Frame;
  columns: Column[];
  /** Pixels from the left and per interval; and the number of intervals. */
  place: { left: number; step: number; count: number };
};

const tipWidth = 264;

/** Inside the chart's box, so that the pointer can move onto it. Assistive technology reads the links' names instead. */
export function PlotHover({ box, svg, frame, columns, place }: PlotHoverProps) {
  const [at, setAt] = useState<number>();
  const { left, step, count } = place;
  const length = lengthOf(frame.interval);
  useEffect(() => {
    const root = box.current!;
    const onMove = (event: PointerEvent) => {
      if (!(event.target instanceof Node && svg.current?.contains(event.target))) return;
      const index = Math.floor((event.clientX - root.getBoundingClientRect().left - left) / step);
      setAt(index >= 0 && index < count ? frame.from + index * length : undefined);
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof SVGAElement) setAt(Number(target.dataset["at"]));
    };
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === "Escape") setAt(undefined);
    };
    const clear = () => setAt(undefined);
    root.addEventListener("pointermove", onMove);
    root.addEventListener("pointerleave", clear);
    root.addEventListener("focusin", onFocus);
    root.addEventListener("focusout", clear);
    document.addEventListener("keydown", onKey);
    return () => {
      root.removeEventListener("pointermove", onMove);
      root.removeEventListener("pointerleave", clear);
      root.removeEventListener("focusin", onFocus);
      root.removeEventListener("focusout", clear);
      document.removeEventListener("keydown", onKey);
    };
  }, [box, svg, frame.from, length, left, step, count]);

  if (at === undefined) return null;
  const column = columns.find(column => column.at === at);
  const begin = left + ((at - frame.from) / length) * step;
  const whole = left + step * count;
  const tipLeft = Math.max(0, Math.min(begin + step / 2 - tipWidth / 2, whole - tipWidth));
  return (
    <div aria-hidden="true">
      <div className="plot-here" style={{ left: begin, width: Math.max(step, 1) }} />
      <div className="plot-tip" style={{ left: tipLeft, width: tipWidth }}>
        <p>
          {intervalText(at, frame.interval)} <span className="quiet">UTC</span>
        </p>
        {column ? (
          <dl>
            {column.facts.map(({ word, text, fill, line }) => (
              <div key={word}>
                <dt>
                  {fill && <Swatch fill={fill} line={line} />}
                  {word}
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        ) : (
          <p className="quiet">No data</p>
        )}
      </div>
    </div>
  );
}
