// One assertion: its rule in words, its fields, and what can be done with it.
import { memo, useId, useState } from "react";
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";
import { checkTypes } from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Choices, Fault } from "../../ui/Field.tsx";
import { AssertionFields } from "./AssertionFields.tsx";
import { assertionTypes, isAssertionType } from "./assertion-types.ts";
import { type Doc, isRecord } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { TextLine } from "./fields.tsx";
import { RowTools } from "./RowTools.tsx";

type CardProps = {
  /** Undefined or odd where the JSON says so. */
  assertion: unknown;
  identity: number;
  at: number;
  isLast: boolean;
  /** Of all assertions of the test. */
  ids: string[];
  /** How many the test has. */
  turnCount: number;
  /** It came from a trace a moment ago. */
  arrived: boolean;
  onRemove: (at: number, assertion: unknown) => void;
};

/** Drawn again only where it changed: a test may have hundreds. */
export const AssertionCard = memo(function AssertionCard(props: CardProps) {
  const { assertion, identity, at, isLast, arrived, onRemove } = props;
  const { change } = useEditorContext();
  const headingId = useId();
  const path = `assertions[${at}]`;
  const type = isRecord(assertion) ? assertion["type"] : undefined;
  const known = isRecord(assertion) && isAssertionType(type);
  const name = `${at + 1}. ${known ? checkTypes[type] : "Unknown type"}`;
  return (
    <li className="card stack editor-card" aria-labelledby={headingId} data-key={identity} data-path={path}>
      <div className="line line-apart">
        <div className="line">
          <h3 id={headingId}>{name}</h3>
          {arrived && <Badge word={{ text: "New, from the trace", icon: "plus", tone: "info" }} />}
        </div>
        <RowTools
          name={name}
          isFirst={at === 0}
          isLast={isLast}
          onMove={by => change({ kind: "move", at, by })}
          onCopy={() => change({ kind: "copy", at })}
          onRemove={() => onRemove(at, assertion)}
        />
      </div>
      {known ? (
        <Known {...props} assertion={assertion} type={type} path={path} />
      ) : (
        <p className="quiet">The form has no fields for this one: change it in the JSON.</p>
      )}
    </li>
  );
});

type KnownProps = Pick<CardProps, "identity" | "ids" | "turnCount"> & {
  assertion: Doc;
  type: AssertionType;
  path: string;
};

function Known({ assertion, type, path, identity, ids, turnCount }: KnownProps) {
  const { change } = useEditorContext();
  const { about, must, mustNot } = assertionTypes[type];
  const ruleId = useId();
  const onField = (name: string, value: unknown) => change({ kind: "part", key: identity, name, value });
  // Left out where it was: what is as it was is no change.
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
          onTurn={turn => onField("turn", turn)}
        />
      )}
      <Rest
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
  /** Odd where the JSON says so. */
  turn: unknown;
  turnCount: number;
  onTurn: (turn: number | "last" | undefined) => void;
};

/** Which turn of the conversation is looked at. One that the test does not have stays to be seen. */
function TurnField({ path, turn, turnCount, onTurn }: TurnProps) {
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
          onTurn(value === "" ? undefined : value === "last" ? "last" : Number(value))
        }
      >
        <option value="">The whole conversation</option>
        {numbers.map(number => (
          <option key={number} value={number}>
            Turn {number}
          </option>
        ))}
        <option value="last">The last turn</option>
        {!["", "last", ...numbers].includes(chosen) && (
          <option value={chosen}>Turn {chosen}, which the test does not have</option>
        )}
      </select>
      <Fault id={`${id}-fault`} fault={fault} />
    </div>
  );
}

type RestProps = {
  assertion: Doc;
  path: string;
  others: string[];
  onField: (name: string, value: unknown) => void;
};

/** What every assertion has and few need. */
function Rest({ assertion, path, others, onField }: RestProps) {
  const { fault: idFault } = useFaultOf(`${path}.id`, {});
  const { fault: dependsFault } = useFaultOf(`${path}.depends_on`, { deep: true });
  const depends = dependenciesOf(assertion);
  const isOpened = idFault !== undefined || dependsFault !== undefined;
  const [open, setOpen] = useState(isOpened);
  // Of a hundred assertions each could wait for ninety-nine: too many to draw unseen. One that no longer exists stays
  // to be seen, and to be taken away.
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
        Id{typeof id === "string" && <code className="break"> {id}</code>}, description, dependencies
        {depends.length > 0 && <span className="quiet"> (waits for {depends.join(", ")})</span>}
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
          label="Id"
          path={`${path}.id`}
          value={id}
          onValue={value => onField("id", value)}
          optional
          hint="Unique in this test; made up on saving where it is empty."
        />
        <div data-path={`${path}.depends_on`}>
          {choices.length > 0 ? (
            <Choices
              name={`${path}.depends_on`}
              label="Checked only if these passed"
              many
              choices={choices.map(other => ({
                value: other,
                label: other,
                note: others.includes(other) ? undefined : "there is no such assertion",
              }))}
              chosen={depends}
              onChoose={chosen => onField("depends_on", chosen)}
              fault={dependsFault}
            />
          ) : (
            <p className="quiet small">It could wait for other assertions, were there any.</p>
          )}
        </div>
      </div>
    </details>
  );
}

function dependenciesOf(assertion: Doc): string[] {
  return [assertion["depends_on"]].flat().filter(id => typeof id === "string");
}
