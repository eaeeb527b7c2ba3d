// The checks in the editor: one sentence each until opened; add by type, move, duplicate, remove with undo.
import { useCallback, useId, useRef, useState } from "react";
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";
import { checkTypes, counted } from "../../labels.ts";
import { isRecord } from "../../record.ts";
import { Button } from "../../ui/Button.tsx";
import { Fault } from "../../ui/Field.tsx";
import { toast } from "../../ui/Toast.tsx";
import { AssertionCard } from "./AssertionCard.tsx";
import { assertionTypes, isAssertionType } from "./assertion-types.ts";
import { useSame } from "./debounced.ts";
import { assertionsOf, type Editing, freeId, newAssertions } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { NoJudgeNotice } from "./NoJudgeNotice.tsx";
import { Section } from "./Section.tsx";
import { Strictness } from "./Strictness.tsx";

type AssertionsProps = { projectId: string; editing: Editing };

export function Assertions({ projectId, editing }: AssertionsProps) {
  const { change, vocabulary, folds, issues } = useEditorContext();
  const { document } = editing;
  const assertions = assertionsOf(document);
  const turnCount = Array.isArray(document["turns"]) ? document["turns"].length : 0;
  const { fault } = useFaultOf("assertions", { isEmpty: assertions.length === 0 });
  const faultId = useId();
  const ids = useSame(
    assertions.flatMap(one => (isRecord(one) && typeof one["id"] === "string" ? [one["id"]] : [])),
  );

  const add = (type: AssertionType) => {
    const value = { type, id: freeId(document), ...newAssertions[type] };
    change({ kind: "insert", at: assertions.length, value });
  };
  const remove = useCallback(
    (at: number, value: unknown) => {
      change({ kind: "remove", at });
      toast(`Check ${at + 1} removed`, {
        label: "Undo",
        run: () => change({ kind: "restore", at, value }),
      });
    },
    [change],
  );

  const hasSemantic = assertions.some(one => isRecord(one) && one["type"] === "semantic");
  return (
    <Section
      name="checks"
      title={assertions.length === 0 ? "Checks" : `Checks ${assertions.length}`}
      line={<Line assertions={assertions} />}
      notice={<NoJudgeNotice projectId={projectId} document={document} about="checks" />}
    >
      {document["assertions"] !== undefined && !Array.isArray(document["assertions"]) && (
        <p className="quiet">“assertions” is not a list. Fix it in the JSON.</p>
      )}
      {assertions.length > 0 && (
        <ol className="editor-checks">
          {assertions.map((assertion, at) => (
            <AssertionCard
              key={editing.keys[at]}
              identity={editing.keys[at]!}
              assertion={assertion}
              at={at}
              isLast={at === assertions.length - 1}
              isOpen={folds.isOpen(`check ${editing.keys[at]!}`)}
              ids={ids}
              turnCount={turnCount}
              isFromTrace={editing.keyFromTrace === editing.keys[at]}
              onRemove={remove}
            />
          ))}
        </ol>
      )}
      <div className="stack-tight" data-path="assertions" data-key="add">
        <AddAssertion onAdd={add} faultId={fault ? faultId : undefined} />
        <Fault id={faultId} fault={fault} />
        {vocabulary && vocabulary.traces > 0 && (
          <p className="quiet small">
            Suggestions come from the latest {counted(vocabulary.traces, "trace")}
            {vocabulary.complete ? "" : ", some of which could not be read"}.
          </p>
        )}
      </div>
      {(hasSemantic || issues.some(({ path }) => path === "threshold")) && (
        <Strictness
          value={document["threshold"]}
          onValue={value => change({ kind: "field", name: "threshold", value })}
        />
      )}
    </Section>
  );
}

/** What is checked, each type once. */
function Line({ assertions }: { assertions: unknown[] }) {
  const types = assertions.flatMap(one =>
    isRecord(one) && isAssertionType(one["type"]) ? [checkTypes[one["type"]]] : [],
  );
  if (assertions.length === 0) return <span className="quiet">No checks yet</span>;
  return [...new Set(types)].join(", ");
}

type AddProps = { onAdd: (type: AssertionType) => void; faultId: string | undefined };

/** A button that shows the nine assertion types with what each checks. */
function AddAssertion({ onAdd, faultId }: AddProps) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <div className="line">
        <Button
          ref={button}
          icon="plus"
          data-part="add"
          aria-expanded={open}
          aria-describedby={faultId}
          onClick={() => setOpen(!open)}
        >
          Add check
        </Button>
      </div>
      {open && (
        <ul
          className="editor-types"
          aria-label="Types of checks"
          onKeyDown={event => {
            if (event.key !== "Escape") return;
            setOpen(false);
            button.current?.focus();
          }}
        >
          {types.map(type => (
            <li key={type}>
              <button
                type="button"
                className="editor-choice"
                onClick={() => {
                  setOpen(false);
                  onAdd(type);
                }}
              >
                <strong>{checkTypes[type]}</strong>
                <span className="quiet small">{assertionTypes[type].about}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const types = Object.keys(assertionTypes) as AssertionType[];
