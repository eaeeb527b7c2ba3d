// One check in the editor: a sentence that opens into its rule and fields, and buttons to move, duplicate and remove it.
import { memo, useId, useState } from "react";
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";
import { checkTypes } from "../../labels.ts";
import { isRecord } from "../../record.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Choices, Fault } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Phrases } from "../trace/evaluation/rule.tsx";
import { AssertionFields } from "./AssertionFields.tsx";
import { assertionTypes, isAssertionType } from "./assertion-types.ts";
import { conditionText, criteriaText, sentenceOf } from "./check-sentence.ts";
import type { Doc } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { TextLine } from "./fields.tsx";
import { RowTools } from "./RowTools.tsx";

type CardProps = {
  /** Any JSON value: the JSON tab may contain something that is not an assertion. */
  assertion: unknown;
  identity: number;
  at: number;
  isLast: boolean;
  isOpen: boolean;
  /** The ids of all assertions of the test. */
  ids: string[];
  turnCount: number;
  /** It was just created from a value in a trace. */
  isFromTrace: boolean;
  onRemove: (at: number, assertion: unknown) => void;
};

/** Memoized, so that only changed cards render again: a test may have hundreds. */
export const AssertionCard = memo(function AssertionCard(props: CardProps) {
  const { assertion, identity, at, isLast, isOpen, isFromTrace, onRemove } = props;
  const { change, folds } = useEditorContext();
  const headingId = useId();
  const path = `assertions[${at}]`;
  const type = isRecord(assertion) ? assertion["type"] : undefined;
  const known = isRecord(assertion) && isAssertionType(type);
  const name = `${at + 1}. ${known ? checkTypes[type] : "Unknown type"}`;
  return (
    <li
      className="editor-check"
      aria-labelledby={headingId}
      data-key={identity}
      data-path={path}
      data-open={isOpen || undefined}
    >
      <div className="editor-check-top">
        <h3>
          <button
            type="button"
            className="editor-fold"
            aria-expanded={isOpen}
            onClick={() => folds.toggle(`check ${identity}`)}
          >
            <Icon name="chevron" />
            <span id={headingId} className="editor-check-type">
              {name}
            </span>
            {isFromTrace && <Badge word={{ text: "Added from trace", icon: "plus", tone: "info" }} />}
            {known && <Sentence assertion={assertion} type={type} />}
          </button>
        </h3>
        <RowTools
          name={name}
          isFirst={at === 0}
          isLast={isLast}
          onMove={by => change({ kind: "move", at, by })}
          onCopy={() => change({ kind: "copy", at })}
          onRemove={() => onRemove(at, assertion)}
        />
      </div>
      {!isOpen && <ClosedFault path={path} />}
      {isOpen && (
        <div className="stack editor-check-body">
          {known ? (
            <RuleAndFields {...props} assertion={assertion} type={type} path={path} />
          ) : (
            <p className="quiet">The form cannot show this check. Edit it in the JSON.</p>
          )}
        </div>
      )}
    </li>
  );
});

/** The rule, as in results; then what the judge is asked, and when the check is made. */
function Sentence({ assertion, type }: { assertion: Doc; type: AssertionType }) {
  const { threshold } = useEditorContext();
  const phrases = sentenceOf(assertion, type, threshold);
  if (!phrases) return <span className="editor-sentence quiet">Not complete yet</span>;
  const more = [criteriaText(assertion), conditionText(assertion)].filter(text => text !== "");
  return (
    <span className="editor-sentence">
      <Phrases phrases={phrases} />
      {more.map(text => (
        <span key={text} className="quiet" dir="auto">
          {" "}
          {text}
        </span>
      ))}
    </span>
  );
}

/** The first error inside a closed check. */
function ClosedFault({ path }: { path: string }) {
  const { fault } = useFaultOf(path, { deep: true });
  return <Fault id={`fault-${path}`} fault={fault} />;
}

type RuleAndFieldsProps = Pick<CardProps, "identity" | "ids" | "turnCount"> & {
  assertion: Doc;
  type: AssertionType;
  path: string;
};

function RuleAndFields({ assertion, type, path, identity, ids, turnCount }: RuleAndFieldsProps) {
  const { change } = useEditorContext();
  const { about, must, mustNot } = assertionTypes[type];
  const ruleId = useId();
  const onField = (name: string, value: unknown) => change({ kind: "part", key: identity, name, value });
  // Keep `negate` absent where it was absent, so that an unchanged rule does not make the test dirty.
  const isNot = Object.hasOwn(assertion, "negate") ? false : undefined;
  return (
    <>
      <div className="field" data-path={`${path}.negate`}>
        <label htmlFor={ruleId}>Rule</label>
        <select
          id={ruleId}
          className="input"
          aria-describedby={`${ruleId}-about`}
          value={assertion["negate"] === true ? "not" : "is"}
          onChange={({ target }) => onField("negate", target.value === "not" ? true : isNot)}
        >
          <option value="is">{must}</option>
          <option value="not">{mustNot}</option>
        </select>
        <div id={`${ruleId}-about`} className="field-hint">
          {about}
        </div>
      </div>
      <AssertionFields assertion={assertion} type={type} path={path} onField={onField} />
      {(turnCount > 1 || assertion["turn"] !== undefined) && (
        <TurnField
          path={`${path}.turn`}
          turn={assertion["turn"]}
          turnCount={turnCount}
          unset={turnLookedAt(assertion, type)}
          onTurn={turn => onField("turn", turn)}
        />
      )}
      <OptionalFields
        assertion={assertion}
        path={path}
        others={ids.filter(id => id !== assertion["id"])}
        onField={onField}
      />
    </>
  );
}

type TurnProps = {
  path: string;
  /** Any JSON value, as typed in the JSON. */
  turn: unknown;
  turnCount: number;
  /** What is checked without a turn. */
  unset: string;
  onTurn: (turn: number | string | undefined) => void;
};

function turnLookedAt({ target_node }: Doc, type: AssertionType): string {
  if (type === "http_status") return "The last turn";
  const isReply = type === "response_regex" || type === "semantic";
  return isReply && target_node === undefined ? "The last reply" : "The whole conversation";
}

const namedTurns = ["last", "each"];

/** Which turn is checked. A turn that the test does not have stays selected, so that the mistake is visible. */
function TurnField({ path, turn, turnCount, unset, onTurn }: TurnProps) {
  const id = useId();
  const { fault } = useFaultOf(path, {});
  const numbers = Array.from({ length: turnCount }, (_, at) => String(at + 1));
  const chosen = turn === undefined ? "" : String(turn);
  return (
    <div className="field" data-path={path}>
      <label htmlFor={id}>Turn</label>
      <select
        id={id}
        className="input"
        aria-describedby={fault ? `${id}-fault` : undefined}
        aria-invalid={fault ? true : undefined}
        value={chosen}
        onChange={({ target: { value } }) =>
          onTurn(value === "" ? undefined : namedTurns.includes(value) ? value : Number(value))
        }
      >
        <option value="">{unset}</option>
        {numbers.map(number => (
          <option key={number} value={number}>
            Turn {number}
          </option>
        ))}
        <option value="last">The last turn</option>
        <option value="each">Each turn</option>
        {!["", ...namedTurns, ...numbers].includes(chosen) && (
          <option value={chosen}>Turn {chosen} (does not exist)</option>
        )}
      </select>
      <Fault id={`${id}-fault`} fault={fault} />
    </div>
  );
}

type OptionalFieldsProps = {
  assertion: Doc;
  path: string;
  others: string[];
  onField: (name: string, value: unknown) => void;
};

/** The id, description and dependencies, folded: every assertion has them, few need them. */
function OptionalFields({ assertion, path, others, onField }: OptionalFieldsProps) {
  const { fault: idFault } = useFaultOf(`${path}.id`, {});
  const { fault: dependsFault } = useFaultOf(`${path}.depends_on`, { deep: true });
  const depends = dependenciesOf(assertion);
  const isOpened = idFault !== undefined || dependsFault !== undefined;
  const [open, setOpen] = useState(isOpened);
  // Each of 100 assertions could depend on 99 others: too many to render while folded. A dependency that no longer
  // exists stays listed, so that it can be removed.
  const choices = open || isOpened ? [...new Set([...others, ...depends])] : [];
  const id = assertion["id"];
  const description = assertion["description"];
  return (
    <details
      className="editor-rest"
      open={isOpened ? true : undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        ID{typeof id === "string" && <code className="break"> {id}</code>}, description, dependencies
        {depends.length > 0 && <span className="quiet"> (depends on {depends.join(", ")})</span>}
      </summary>
      <div className="stack">
        <TextLine
          label="Description (optional)"
          path={`${path}.description`}
          value={description}
          onValue={value => onField("description", value)}
          optional
        />
        <TextLine
          label="ID"
          path={`${path}.id`}
          value={id}
          onValue={value => onField("id", value)}
          optional
          hint="Unique in this test. Generated on save if empty."
        />
        <div data-path={`${path}.depends_on`}>
          {choices.length > 0 ? (
            <Choices
              name={`${path}.depends_on`}
              label="Check only if these pass"
              many
              choices={choices.map(other => ({
                value: other,
                label: other,
                note: others.includes(other) ? undefined : "does not exist",
              }))}
              chosen={depends}
              onChoose={chosen => onField("depends_on", chosen)}
              fault={dependsFault}
            />
          ) : (
            <p className="quiet small">Add another check to set a dependency.</p>
          )}
        </div>
      </div>
    </details>
  );
}

function dependenciesOf(assertion: Doc): string[] {
  return [assertion["depends_on"]].flat().filter(id => typeof id === "string");
}
