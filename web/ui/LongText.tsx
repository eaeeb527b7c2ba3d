// A text as it is, whitespace and all; of a very long one only what is in sight is laid out, and a find is beside it.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useId, useMemo, useRef, useState } from "react";
import { counted } from "../labels.ts";

const plainMax = 20_000;
const stripMax = 2_000;
/** For the first guess at a strip's height. */
const [lineHeight, lineCharacters] = [20, 90];

type LongTextProps = {
  text: string;
  /** For what can be scrolled: what the text is. */
  label: string;
};

export function LongText({ text, label }: LongTextProps) {
  if (text.length > plainMax) return <Strips text={text} label={label} />;
  return <div className="long-text">{text}</div>;
}

function Strips({ text, label }: LongTextProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const strips = useMemo(() => stripsOf(text), [text]);
  const [find, setFind] = useState("");
  const [at, setAt] = useState(-1);
  const found = useMemo(() => stripsWith(strips, find), [strips, find]);
  const findId = useId();
  const rows = useVirtualizer({
    count: strips.length,
    getScrollElement: () => scroller.current,
    estimateSize: index => linesIn(strips[index]!) * lineHeight,
    overscan: 2,
  });
  const goTo = (next: number) => {
    setAt(next);
    rows.scrollToIndex(found[next]!, { align: "start" });
  };
  return (
    <>
      <div className="json-find">
        <label htmlFor={findId} className="unseen">
          Find in {label}
        </label>
        <input
          id={findId}
          type="search"
          className="input"
          placeholder="Find"
          value={find}
          onChange={event => {
            setFind(event.target.value);
            setAt(-1);
          }}
          onKeyDown={event => {
            if (event.key === "Enter" && found.length > 0) goTo((at + 1) % found.length);
          }}
        />
        <span role="status" className="quiet small">
          {find !== "" &&
            (at < 0
              ? `${counted(found.length, "place")}, Enter goes there`
              : `${at + 1} of ${counted(found.length, "place")}`)}
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms. */}
      <div
        ref={scroller}
        className="long-text long-text-strips"
        role="group"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard.
        tabIndex={0}
      >
        <div style={{ blockSize: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              ref={rows.measureElement}
              data-index={index}
              data-found={index === found[at] || undefined}
              style={{ transform: `translateY(${start}px)` }}
            >
              {strips[index]}
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

/** Cut at the ends of lines where there are any near enough, never within a character. */
function stripsOf(text: string): string[] {
  const strips: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + stripMax, text.length);
    const line = text.lastIndexOf("\n", end);
    const isLine = end < text.length && line > at;
    if (isLine) end = line;
    else if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end--;
    // A strip of its own begins a new line anyway.
    strips.push(text.slice(at, end));
    at = isLine ? end + 1 : end;
  }
  return strips;
}

function linesIn(strip: string): number {
  return strip.split("\n").reduce((lines, line) => lines + 1 + Math.floor(line.length / lineCharacters), 0);
}

function stripsWith(strips: string[], find: string): number[] {
  const wanted = find.toLowerCase();
  if (wanted === "") return [];
  return strips.flatMap((strip, at) => (strip.toLowerCase().includes(wanted) ? at : []));
}
