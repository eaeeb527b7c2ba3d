// The toolbar of the span tree: search, jump to failed or checked spans, expand, collapse, zoom.
import { type RefObject, useEffect, useState } from "react";
import { Button } from "../../ui/Button.tsx";

type TreeToolsProps = {
  search: RefObject<HTMLInputElement | null>;
  find: string;
  /** The number of spans, or of matching ones. */
  count: string;
  onFind: (text: string) => void;
  onJump: (step: 1 | -1) => void;
  onUnfoldAll: () => void;
  onFoldAll: () => void;
  onZoom: (factor: number) => void;
  onFit: () => void;
  fits: boolean;
};

export function TreeTools({ search, find, count, onFind, onJump, ...tools }: TreeToolsProps) {
  const [text, setText] = useTyped(find, onFind);
  return (
    <div className="tree-tools">
      <span className="tree-find">
        <input
          ref={search}
          className="input"
          type="search"
          aria-label="Search spans"
          placeholder="Search spans"
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={event => {
            if (event.key === "Escape") setText("");
          }}
        />
        <span className="quiet small figures" role="status">
          {count}
          <span className="unseen"> spans</span>
        </span>
      </span>
      <span className="tree-buttons">
        <Button
          small
          look="plain"
          icon="chevron"
          className="turned"
          aria-label="Previous failed or checked span"
          title="Previous failed or checked span  ["
          onClick={() => onJump(-1)}
        />
        <Button
          small
          look="plain"
          icon="chevron"
          aria-label="Next failed or checked span"
          title="Next failed or checked span  ]"
          onClick={() => onJump(1)}
        />
        <Button
          small
          look="plain"
          icon="unfold"
          aria-label="Expand tree"
          title="Expand tree"
          onClick={tools.onUnfoldAll}
        />
        <Button
          small
          look="plain"
          icon="fold"
          aria-label="Collapse tree"
          title="Collapse tree"
          onClick={tools.onFoldAll}
        />
        <Button
          small
          look="plain"
          icon="zoomIn"
          aria-label="Zoom in"
          title="Zoom in"
          onClick={() => tools.onZoom(0.5)}
        />
        <Button
          small
          look="plain"
          icon="zoomOut"
          aria-label="Zoom out"
          title="Zoom out"
          onClick={() => tools.onZoom(2)}
        />
        <Button
          small
          look="plain"
          icon="fit"
          aria-label="Fit timeline"
          title="Fit timeline  F"
          busy={tools.fits}
          onClick={tools.onFit}
        />
      </span>
    </div>
  );
}

const typedMs = 150;

/** Debounced input: reports the text `typedMs` after the last key. A new `text` from outside replaces it. */
function useTyped(text: string, onRest: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(text);
  const [reported, setReported] = useState(text);
  if (reported !== text) {
    setReported(text);
    setTyped(text);
  }
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => {
      setReported(typed);
      onRest(typed);
    }, typedMs);
    return () => clearTimeout(timer);
  });
  return [typed, setTyped];
}
