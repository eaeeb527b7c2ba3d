// What the user says in manual runs: the message of each turn, and the inputs and repeats.
import { useId } from "react";
import { counted } from "../../labels.ts";
import { isRecord } from "../../record.ts";
import { Button } from "../../ui/Button.tsx";
import { Fault } from "../../ui/Field.tsx";
import { Notice } from "../../ui/Notice.tsx";
import type { Doc } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { TextBlock } from "./fields.tsx";
import { rowsOf, runsText } from "./inputs/rows.ts";
import { ManualRuns } from "./ManualRuns.tsx";
import { Section } from "./Section.tsx";

export function TurnsSection({ agentId, document }: { agentId: string; document: Doc }) {
  const { change } = useEditorContext();
  return (
    <Section name="turns" title="The user says" line={<Line document={document} />}>
      <Turns turns={document["turns"]} onTurns={value => change({ kind: "field", name: "turns", value })} />
      <ManualRuns agentId={agentId} document={document} />
    </Section>
  );
}

function Line({ document: { turns, inputs, repeats } }: { document: Doc }) {
  const list = Array.isArray(turns) ? turns : [];
  const runs = runsText(rowsOf(inputs)?.length ?? 0, repeats);
  const [first] = list;
  const message = isRecord(first) ? first["input"] : first;
  if (runs !== undefined && list.length < 2) return runs;
  if (typeof message !== "string" || !/\S/.test(message)) return <span className="quiet">Nothing yet</span>;
  return (
    <>
      {list.length > 1 && `${counted(list.length, "turn")}, manual runs only: `}
      <bdi>{message}</bdi>
    </>
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
    <div className="stack" data-path="turns">
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
    </div>
  );
}
