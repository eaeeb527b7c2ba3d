// A label with an icon, so that color is never the only cue.

import type { ReactNode } from "react";
import type { Outcome } from "../../src/model/run/outcome.ts";
import type { RunState } from "../../src/model/run/run.ts";
import { outcomeWord, runStates, type Word } from "../labels.ts";
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

type ShownRun = {
  state: RunState;
  verdict: Outcome | null;
  fullyEvaluated: boolean | null;
  waiting: unknown;
};
type VerdictProps = { run: ShownRun | null };

/** The verdict of a trace's latest evaluation; null: not evaluated. */
export function Verdict({ run }: VerdictProps) {
  if (run === null) return <Badge word={runStates.none} />;
  return <Badge word={verdictWord(run)} />;
}

export function verdictWord({ state, verdict, fullyEvaluated, waiting }: ShownRun): Word {
  return verdict ? outcomeWord(verdict, fullyEvaluated) : runStates[waiting ? "waiting" : state];
}
