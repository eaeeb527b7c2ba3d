// What can be done with the tree as a whole: search it, fold it, jump in it, zoom its times.
import { type RefObject, useEffect, useState } from "react";
import { Button } from "../../ui/Button.tsx";

type TreeToolsProps = {
  search: RefObject<HTMLInputElement | null>;
  find: string;
  /** How many spans there are, or were found. */
  told: string;
  onFind: (text: string) => void;
  onJump: (step: 1 | -1) => void;
  onUnfoldAll: () => void;
  onFoldAll: () => void;
  onZoom: (factor: number) => void;
  onFit: () => void;
  fits: boolean;
};

export function TreeTools({ search, find, told, onFind, onJump, ...tools }: TreeToolsProps) {
  const [text, setText] = useTyped(find, onFind);
  return (
    <div className="tree-tools">
      <span className="tree-find">
        <input
          ref={search}
          className="input"
          type="search"
          aria-label="Search the spans"
          placeholder="Search the spans"
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={event => {
            if (event.key === "Escape") setText("");
          }}
        />
        <span className="quiet small figures" role="status">
          {told}
          <span className="unseen"> spans</span>
        </span>
      </span>
      <span className="tree-buttons">
        <Button
          small
          look="plain"
          icon="chevron"
          className="turned"
          aria-label="Previous span of note"
          title="Previous span that failed or that a check points to  ["
          onClick={() => onJump(-1)}
        />
        <Button
          small
          look="plain"
          icon="chevron"
          aria-label="Next span of note"
          title="Next span that failed or that a check points to  ]"
          onClick={() => onJump(1)}
        />
        <Button
          small
          look="plain"
          icon="unfold"
          aria-label="Unfold all"
          title="Unfold all"
          onClick={tools.onUnfoldAll}
        />
        <Button
          small
          look="plain"
          icon="fold"
          aria-label="Fold all"
          title="Fold all"
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
          aria-label="Fit"
          title="Fit all times  F"
          busy={tools.fits}
          onClick={tools.onFit}
        />
      </span>
    </div>
  );
}

const typedMs = 150;

/** The text as it is typed, told when typing rests; another text from outside takes its place. */
function useTyped(text: string, onRest: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(text);
  const [told, setTold] = useState(text);
  if (told !== text) {
    setTold(text);
    setTyped(text);
  }
  useEffect(() => {
    if (typed === text) return;
    const timer = setTimeout(() => {
      setTold(typed);
      onRest(typed);
    }, typedMs);
    return () => clearTimeout(timer);
  });
  return [typed, setTyped];
}
