// A text of a message. A truncated one can be loaded in full.

import { useContext, useEffect, useMemo, useRef, useState } from "react";
import type { Passage } from "../../../../src/model/trace/shown.ts";
import { numberText } from "../../../format.ts";
import { persistedChoice } from "../../../persisted-choice.ts";
import { findQuotation } from "../../../quotation.ts";
import { Button } from "../../../ui/Button.tsx";
import { LongText } from "../../../ui/LongText.tsx";
import { lazyPart } from "../../../ui/lazy-part.tsx";
import { FailureNotice } from "../../../ui/Notice.tsx";
import { SpanValue } from "../span/SpanValue.tsx";
import { type ReadPassage, usePassage } from "./passage.ts";
import { QuotedContext } from "./turns.ts";

/** Longer texts are shortened, so that other messages stay in view. */
const shownMax = 3_000;

const loadMarkdown = () => import("../../../ui/Markdown.tsx");
const Markdown = lazyPart(
  loadMarkdown,
  () => {},
  ({ plain }) => plain,
);

/** How messages are shown, in every trace. */
export const textForm = persistedChoice<"markdown" | "raw">(
  "message-text",
  "markdown",
  text => text === "markdown" || text === "raw",
);

/** Starts to load what shows Markdown, before there is any. */
export function usePreloadedMarkdown(): void {
  useEffect(() => void loadMarkdown().catch(() => {}), []);
}

type PassageTextProps = { passage: Passage; label: string; markdown?: boolean };

/** `markdown`: shown as such, unless it is switched off. */
export function PassageText({ passage, label, markdown = false }: PassageTextProps) {
  const read = usePassage(passage);
  const [unfolded, setUnfolded] = useState(false);
  const quoted = useContext(QuotedContext);
  const mark = useMemo(() => (quoted ? findQuotation(read.text, quoted) : null), [quoted, read.text]);
  useLoadForQuotation(quoted, read, mark !== null);
  const short = !unfolded && passage.length > shownMax && (mark === null || mark[1] <= shownMax);
  const shown = short ? read.text.slice(0, shownMax) : read.text;
  const text = short || !read.whole ? `${shown}…` : shown;
  const plain = <LongText text={text} label={label} mark={mark} />;
  // A marked passage is one of the text as it was written.
  const form = textForm.use();
  const isMarkdown = markdown && form === "markdown" && mark === null;
  return (
    <>
      {isMarkdown ? <Markdown text={text} plain={plain} /> : plain}
      {short ? (
        <ShowAllButton
          length={passage.length}
          onShow={() => {
            setUnfolded(true);
            if (!read.whole) read.load();
          }}
        />
      ) : (
        <ShowAll passage={passage} read={read} />
      )}
    </>
  );
}

/** Loads the full text, once, if the quotation is not in the part shown. */
function useLoadForQuotation(quoted: string | undefined, { whole, load }: ReadPassage, found: boolean): void {
  const asked = useRef<string>(undefined);
  useEffect(() => {
    if (quoted === undefined || found || whole || asked.current === quoted) return;
    asked.current = quoted;
    load();
  }, [quoted, found, whole, load]);
}

/** A value that may be JSON. */
export function PassageValue({ passage, label }: { passage: Passage; label: string }) {
  const read = usePassage(passage);
  return (
    <>
      <SpanValue
        value={read.text}
        label={label}
        whole={read.whole}
        unfolded={passage.length > passage.text.length}
      />
      <ShowAll passage={passage} read={read} />
    </>
  );
}

function ShowAll({ passage, read }: { passage: Passage; read: ReturnType<typeof usePassage> }) {
  return (
    <>
      {!read.whole && <ShowAllButton length={passage.length} busy={read.loading} onShow={read.load} />}
      <FailureNotice failure={read.failure} />
    </>
  );
}

type ShowAllButtonProps = { length: number; busy?: boolean; onShow: () => void };

function ShowAllButton({ length, busy = false, onShow }: ShowAllButtonProps) {
  return (
    <Button small look="link" busy={busy} onClick={onShow}>
      Show all ({numberText(length)} characters)
    </Button>
  );
}
