// The edge of a column's heading: dragged, or moved by the arrow keys, Home and End. A double click resets the width.
import type { KeyboardEvent, PointerEvent } from "react";
import { clampWidth, parseWidths, printWidths, widthMax, widthMin } from "./column-widths.ts";
import { columnWidths } from "./display.ts";

type ColumnHandleProps = {
  id: string;
  label: string;
  /** The column's current width. */
  rem: number;
  /** The edge that moves: the one away from the column that takes the remaining space follows the others. */
  edge: "start" | "end";
};

const stepRem = 0.5;

export function ColumnHandle({ id, label, rem, edge }: ColumnHandleProps) {
  const resize = (width: number) => changeWidth(id, clampWidth(width));
  const towards = edge === "end" ? 1 : -1;

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const widths: Record<string, number> = {
      ArrowLeft: rem - stepRem * towards,
      ArrowRight: rem + stepRem * towards,
      Home: widthMin,
      End: widthMax,
    };
    const width = widths[event.key];
    if (width === undefined) return;
    event.preventDefault();
    resize(width);
  }

  function onPointerMove({ currentTarget, pointerId, clientX }: PointerEvent<HTMLDivElement>): void {
    if (!currentTarget.hasPointerCapture(pointerId)) return;
    const { left, right } = currentTarget.parentElement!.getBoundingClientRect();
    const pixels = edge === "end" ? clientX - left : right - clientX;
    resize(pixels / Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is moved is a control, not a rule.
    <div
      role="separator"
      className="column-handle"
      data-edge={edge}
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Resize ${label}`}
      aria-valuemin={widthMin}
      aria-valuenow={Math.round(rem * 100) / 100}
      aria-valuemax={widthMax}
      title="Drag to resize. Double-click to reset."
      onKeyDown={onKeyDown}
      onPointerDown={event => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onDoubleClick={() => changeWidth(id, undefined)}
    />
  );
}

function changeWidth(id: string, rem: number | undefined): void {
  const { [id]: _, ...others } = parseWidths(columnWidths.get()) ?? {};
  columnWidths.set(printWidths(rem === undefined ? others : { ...others, [id]: rem }));
}
