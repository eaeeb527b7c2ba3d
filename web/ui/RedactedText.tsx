// A text with marks of redacted places, each shown as a chip. Copied, the text is what is stored.

import { type ReactNode, useMemo } from "react";
import type { PlacesOfRule } from "../../src/model/redaction.ts";
import { isPseudonym, markText, partsOf, redactionName } from "../redaction-marks.ts";

export function RedactedText({ text }: { text: string }): ReactNode {
  const parts = useMemo(() => partsOf(text), [text]);
  return parts.map(({ text, redacted }, at) => (redacted ? <Chip key={at} text={text} /> : text));
}

/** A text with what privacy rules changed in it. */
export function MarkedText({ text, redactions }: { text: string; redactions: readonly PlacesOfRule[] }) {
  return <RedactedText text={markText(text, redactions)} />;
}

/** A user or conversation ID; `rules`: those that redacted something in its trace. */
export function IdText({ id, rules }: { id: string; rules: readonly string[] }): ReactNode {
  return isPseudonym(id, rules) ? <Chip text={id} /> : id;
}

function Chip({ text }: { text: string }) {
  const name = redactionName(text);
  return (
    // The role lets the name replace the text for screen readers, and leaves the text to be copied.
    <span className="redacted" role="img" aria-label={name} title={name}>
      {text}
    </span>
  );
}
