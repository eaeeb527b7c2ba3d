// A text as it is, whitespace and all; of a very long one only what is in sight is laid out.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";

const plainMax = 20_000;
const stripMax = 2_000;

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
  const rows = useVirtualizer({
    count: strips.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 320,
    overscan: 2,
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard.
    <div ref={scroller} className="long-text long-text-strips" role="group" aria-label={label} tabIndex={0}>
      <div style={{ blockSize: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            ref={rows.measureElement}
            data-index={index}
            style={{ transform: `translateY(${start}px)` }}
          >
            {strips[index]}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Cut at the ends of lines where there are any near enough, never within a character. */
export function stripsOf(text: string): string[] {
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
