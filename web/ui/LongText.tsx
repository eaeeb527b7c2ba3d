// Preformatted text. Texts over 20,000 characters are virtualized and have a search field.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { counted } from "../labels.ts";
import { FindField } from "./FindField.tsx";
import { TraceText } from "./TraceText.tsx";

const plainMax = 20_000;
const stripMax = 2_000;
/** For estimating the height of a strip. */
const [lineHeight, lineCharacters] = [20, 90];

type LongTextProps = {
  text: string;
  /** Accessible name of the scrollable region. */
  label: string;
  /** A passage to highlight and scroll to. */
  mark?: TextRange | null;
};

/** From (inclusive) and to (exclusive). */
type TextRange = readonly [from: number, to: number];

export function LongText({ text, label, mark = null }: LongTextProps) {
  if (text.length > plainMax) return <Strips text={text} label={label} mark={mark} />;
  return (
    <div className="long-text">
      {mark ? <Marked key={mark[0]} text={text} mark={mark} /> : <TraceText text={text} />}
    </div>
  );
}

function Marked({ text, mark: [from, to] }: { text: string; mark: TextRange }): ReactNode {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    element.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <>
      <TraceText text={text.slice(0, from)} />
      <mark ref={element} className="quoted">
        <TraceText text={text.slice(from, to)} />
      </mark>
      <TraceText text={text.slice(to)} />
    </>
  );
}

function Strips({ text, label, mark }: LongTextProps & { mark: TextRange | null }) {
  const scroller = useRef<HTMLDivElement>(null);
  const strips = useMemo(() => stripsOf(text), [text]);
  const [find, setFind] = useState("");
  const [at, setAt] = useState(-1);
  const texts = useMemo(() => strips.map(strip => strip.text), [strips]);
  const found = useMemo(() => stripsWith(texts, find), [texts, find]);
  const rows = useVirtualizer({
    count: strips.length,
    getScrollElement: () => scroller.current,
    estimateSize: index => linesIn(texts[index]!) * lineHeight,
    overscan: 2,
  });
  const marked = mark ? strips.findLastIndex(({ from }) => from <= mark[0]) : -1;
  useEffect(() => {
    if (marked >= 0) rows.scrollToIndex(marked, { align: "center" });
  }, [rows, marked]);
  const goTo = (next: number) => {
    setAt(next);
    rows.scrollToIndex(found[next]!, { align: "start" });
  };
  return (
    <>
      <FindField
        label={label}
        value={find}
        onChange={text => {
          setFind(text);
          setAt(-1);
        }}
        onEnter={() => {
          if (found.length > 0) goTo((at + 1) % found.length);
        }}
        status={
          find !== "" &&
          (at < 0
            ? `${counted(found.length, "result")}. Press Enter to jump.`
            : `${at + 1} of ${counted(found.length, "result")}`)
        }
      />
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
              {mark && index === marked ? (
                <Marked text={texts[index]!} mark={within(mark, strips[index]!)} />
              ) : (
                <TraceText text={texts[index]!} />
              )}
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

type Strip = { text: string; from: number };

/** The part of the range in this strip. A range that continues in the next strip is highlighted only in the first. */
function within([from, to]: TextRange, strip: Strip): TextRange {
  return [from - strip.from, Math.min(to - strip.from, strip.text.length)];
}

/** Splits at line ends if there are any within reach, never inside a character. */
function stripsOf(text: string): Strip[] {
  const strips: Strip[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + stripMax, text.length);
    const line = text.lastIndexOf("\n", end);
    const isLine = end < text.length && line > at;
    if (isLine) end = line;
    else if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end--;
    // Each strip starts on a new line, so the line break is dropped.
    strips.push({ text: text.slice(at, end), from: at });
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
