// The divider between two panes: dragged, or moved by the arrow keys, Home and End. A double click resets the widths.
import type { KeyboardEvent, PointerEvent } from "react";
import { dividerRange } from "./pane-divider.ts";

type PaneDividerProps = {
  /** The pane before it. */
  pane: number;
  widths: number[];
  /** Names the panes: "Resize Tree and Conversation". */
  label: string;
  onMove: (pane: number, percent: number) => void;
  onReset: () => void;
};

const stepPercent = 2;

export function PaneDivider({ pane, widths, label, onMove, onReset }: PaneDividerProps) {
  const { min, now, max } = dividerRange(widths, pane);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, number> = {
      ArrowLeft: now - stepPercent,
      ArrowRight: now + stepPercent,
      Home: min,
      End: max,
    };
    const percent = moves[event.key];
    if (percent === undefined) return;
    event.preventDefault();
    onMove(pane, percent);
  }

  function onPointerMove(event: PointerEvent<HTMLDivElement>): void {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const { left, width } = event.currentTarget.parentElement!.getBoundingClientRect();
    onMove(pane, ((event.clientX - left) / width) * 100);
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is moved is a control, not a rule.
    <div
      role="separator"
      className="pane-divider"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuemin={Math.round(min)}
      aria-valuenow={Math.round(now)}
      aria-valuemax={Math.round(max)}
      title="Drag to resize. Double-click to reset."
      onKeyDown={onKeyDown}
      onPointerDown={event => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onDoubleClick={onReset}
    />
  );
}
