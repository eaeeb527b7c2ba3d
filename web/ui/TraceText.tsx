// A text in which whatever stands for a redacted value is shown as such. Copied, it is the text that is stored.

import { createContext, type ReactNode, useContext, useMemo } from "react";

/** The privacy rules that redacted something in what is shown; null: not known, so any may have. */
export const RedactingRules = createContext<readonly string[] | null>(null);

type TraceTextProps = { text: string; rules?: readonly string[] };

/** `rules`: in place of those around it. */
export function TraceText({ text, rules }: TraceTextProps): ReactNode {
  const around = useContext(RedactingRules);
  return useMemo(() => partsOf(text, rules ?? around), [text, rules, around]);
}

/** A placeholder, an unchecked text, and a pseudonym. */
const standsForValue = /⟦([a-z0-9_-]{1,32})⟧|\[unchecked\]|\bp_[\w-]{22}(?![\w-])/g;

/** Only placeholders are told from other texts where the rules are not known. */
function partsOf(text: string, rules: readonly string[] | null): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const { 0: found, 1: name, index } of text.matchAll(standsForValue)) {
    const rule = name ?? (found === "[unchecked]" ? "unchecked" : "pseudonym");
    if (rules ? !rules.includes(rule) : name === undefined) continue;
    parts.push(text.slice(from, index), <Redaction key={index} text={found} rule={rule} />);
    from = index + found.length;
  }
  return [...parts, text.slice(from)];
}

const names: Record<string, string> = {
  pseudonym: "Redacted: pseudonym of an ID",
  unchecked: "Not stored: checking this text for private data took too long",
};

function Redaction({ text, rule }: { text: string; rule: string }) {
  const name = names[rule] ?? `Redacted: ${rule}`;
  return (
    // The role lets the name replace the text for screen readers, and leaves the text to be copied.
    <span className="redacted" role="img" aria-label={name} title={name}>
      {text}
    </span>
  );
}
