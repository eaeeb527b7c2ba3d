// A label with an icon, so that color is never the only cue.

import type { ReactNode } from "react";
import type { Outcome } from "../../src/model/run/outcome.ts";
import type { RunState } from "../../src/model/run/run.ts";
import { outcomes, runStates, type Word } from "../labels.ts";
import { Icon } from "./Icon.tsx";

export function Badge({ word, children }: { word: Word; children?: ReactNode }) {
  return (
    <span className="badge" data-tone={word.tone}>
      <Icon name={word.icon} />
      {word.text}
      {children}
    </span>
  );
}

type VerdictProps = { run: { state: RunState; verdict: Outcome | null; waiting: unknown } | null };

/** The verdict of a trace's latest evaluation; null: not evaluated. */
export function Verdict({ run }: VerdictProps) {
  if (run === null) return <Badge word={runStates.none} />;
  return (
    <Badge word={run.verdict ? outcomes[run.verdict] : runStates[run.waiting ? "waiting" : run.state]} />
  );
}
