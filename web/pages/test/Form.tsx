// A test case as a form: name, passive behavior, scenario, turns, assertions, strictness and status.
import { useId } from "react";
import type { PassiveBehavior } from "../../../src/model/test-case/test-case.ts";
import { passiveBehaviors, testStates } from "../../labels.ts";
import { isRecord } from "../../record.ts";
import { Button } from "../../ui/Button.tsx";
import { Choices, Fault } from "../../ui/Field.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Assertions } from "./Assertions.tsx";
import type { Editing } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { TextBlock, TextLine } from "./fields.tsx";
import { ManualRuns } from "./ManualRuns.tsx";
import { NoJudgeNotice } from "./NoJudgeNotice.tsx";

const behaviors = Object.entries(passiveBehaviors).map(([value, { text, about }]) => ({
  value: value as PassiveBehavior,
  label: text,
  note: about,
}));
const statuses = [
  { value: "active", label: testStates.active.text, note: "evaluates new traces" },
  { value: "disabled", label: testStates.disabled.text, note: "saved, but not used" },
] as const;

type FormProps = {
  projectId: string;
  agentId: string;
  editing: Editing;
  /** Opens the scenario trial, which shows its cost first. */
  onTryScenario: () => void;
};

export function Form({ projectId, agentId, editing, onTryScenario }: FormProps) {
  const { change } = useEditorContext();
  const { document } = editing;
  const set = (name: string) => (value: unknown) => change({ kind: "field", name, value });
  const bound = (name: string) => ({ path: name, value: document[name], onValue: set(name) });
  const behavior = useFaultOf("passiveBehavior", {});
  const status = useFaultOf("status", {});
  return (
    <div className="stack editor-form">
      <section className="card stack" aria-label="Test case">
        <TextLine label="Name" {...bound("name")} />
        <div data-path="passiveBehavior">
          <Choices
            name="passiveBehavior"
            label="Passive behavior"
            choices={behaviors}
            chosen={[(document["passiveBehavior"] ?? "run_when_relevant") as PassiveBehavior]}
            onChoose={([chosen]) => set("passiveBehavior")(chosen)}
            fault={behavior.fault}
          />
        </div>
        <TextBlock
          label="Scenario"
          hint="The situation in plain words. The judge uses it to decide which traces this test applies to."
          {...bound("scenario")}
        />
        {typeof document["scenario"] === "string" && /\S/.test(document["scenario"]) && (
          <div className="line">
            <Button small icon="search" onClick={onTryScenario}>
              Try on recent inputs
            </Button>
          </div>
        )}
        <NoJudgeNotice projectId={projectId} document={document} />
      </section>
      <Turns turns={document["turns"]} onTurns={set("turns")} />
      <ManualRuns agentId={agentId} document={document} />
      <Assertions editing={editing} />
      <section className="card stack" aria-label="Strictness and status">
        <Strictness value={document["threshold"]} onValue={set("threshold")} />
        <div data-path="status">
          <Choices
            name="status"
            label="Status"
            choices={statuses}
            chosen={[(document["status"] ?? "active") as "active"]}
            onChoose={([chosen]) => set("status")(chosen)}
            fault={status.fault}
          />
        </div>
      </section>
    </div>
  );
}

/** The threshold in words. */
function strictnessWord(threshold: number): string {
  if (threshold >= 0.95) return "Very strict: only a flawless reply passes.";
  if (threshold >= 0.8) return "Strict: small flaws fail.";
  if (threshold >= 0.6) return "Balanced: small flaws pass.";
  if (threshold >= 0.3) return "Lenient: half is enough.";
  return "Very lenient: almost everything passes.";
}

type StrictnessProps = { value: unknown; onValue: (value: unknown) => void };

function Strictness({ value, onValue }: StrictnessProps) {
  const id = useId();
  const { fault, warning } = useFaultOf("threshold", {});
  const threshold = value === undefined ? 0.7 : value;
  const isUsable = typeof threshold === "number" && threshold >= 0 && threshold <= 1;
  const word = isUsable ? strictnessWord(threshold) : undefined;
  return (
    <fieldset className="choices" aria-describedby={`${id}-word`}>
      <legend>Strictness</legend>
      <div className="editor-strictness">
        <input
          type="range"
          aria-label="Strictness slider"
          min={0}
          max={1}
          step={0.05}
          value={isUsable ? threshold : 0.7}
          aria-valuetext={isUsable ? `${threshold}. ${word}` : "Not a valid number"}
          onChange={({ target }) => onValue(Number(target.value))}
        />
        <input
          type="number"
          className="input"
          aria-label="Strictness value"
          data-path="threshold"
          aria-invalid={fault || warning ? true : undefined}
          min={0}
          max={1}
          step={0.05}
          value={typeof threshold === "number" ? threshold : ""}
          onChange={({ target }) => onValue(target.value === "" ? undefined : Number(target.value))}
        />
      </div>
      <div id={`${id}-word`} className="field-hint">
        {fault ?? warning ?? word ?? "Enter a number from 0 to 1."} Applies to semantic assertions only.
      </div>
    </fieldset>
  );
}

type TurnsProps = { turns: unknown; onTurns: (turns: unknown) => void };

function Turns({ turns, onTurns }: TurnsProps) {
  const list = Array.isArray(turns) ? turns : [];
  const faultId = useId();
  const { fault } = useFaultOf("turns", { isEmpty: list.length === 0 });
  const several = list.length > 1;
  const input = (turn: unknown) => (isRecord(turn) ? turn["input"] : turn);
  return (
    <section className="card stack" aria-labelledby="turns-heading" data-path="turns">
      <h2 id="turns-heading">{several ? `Turns ${list.length}` : "Turn"}</h2>
      {turns !== undefined && !Array.isArray(turns) && (
        <p className="quiet">“turns” is not a list. Fix it in the JSON.</p>
      )}
      {list.map((turn, at) => (
        <div key={at} className="editor-turn">
          <TextBlock
            label={several ? `User message, turn ${at + 1}` : "User message"}
            hint={several ? undefined : "Sent in manual runs. Live traces are evaluated as they are."}
            path={`turns[${at}].input`}
            rows={2}
            value={input(turn)}
            onValue={value => onTurns(list.with(at, { ...(isRecord(turn) && turn), input: value }))}
          />
          {several && (
            <Button
              look="plain"
              small
              icon="trash"
              aria-label={`Remove turn ${at + 1}`}
              onClick={() => onTurns(list.toSpliced(at, 1))}
            />
          )}
        </div>
      ))}
      {several && (
        <Notice tone="info" role="status">
          Tests with several turns can only be run manually. They do not evaluate live traces.
        </Notice>
      )}
      <div className="line">
        <Button
          icon="plus"
          small
          aria-describedby={fault ? faultId : undefined}
          onClick={() => onTurns([...list, { input: "" }])}
        >
          {list.length === 0 ? "Add turn" : "Add another turn"}
        </Button>
        {list.length === 1 && (
          <span className="quiet small">Tests with several turns can only be run manually.</span>
        )}
      </div>
      <Fault id={faultId} fault={fault} />
    </section>
  );
}
