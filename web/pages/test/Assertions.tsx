// The assertions of a test: a card each, added by type, moved, copied, removed with a way back.
import { useId } from "react";
import { checkTypes } from "../../labels.ts";
import { Fault } from "../../ui/Field.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { toast } from "../../ui/Toast.tsx";
import { AssertionCard } from "./AssertionCard.tsx";
import { assertionTypes, isAssertionType } from "./assertion-types.ts";
import { assertionsOf, beginnings, type Editing, freeId, isRecord } from "./document.ts";
import { useFaultOf, useTold } from "./told.ts";

export function Assertions({ editing }: { editing: Editing }) {
  const { change, vocabulary } = useTold();
  const { document } = editing;
  const assertions = assertionsOf(document);
  const { fault } = useFaultOf("assertions", { isEmpty: assertions.length === 0 });
  const faultId = useId();
  const ids = assertions.flatMap(one => (isRecord(one) && typeof one["id"] === "string" ? [one["id"]] : []));

  const add = (type: string) => {
    if (!isAssertionType(type)) return;
    const value = { type, id: freeId(document), ...beginnings[type] };
    change({ kind: "insert", at: assertions.length, value });
  };
  const copy = (at: number) => {
    const original = assertions[at];
    const value = isRecord(original) ? { ...original, id: freeId(document) } : original;
    change({ kind: "insert", at: at + 1, value });
  };
  const remove = (at: number) => {
    const value = assertions[at];
    change({ kind: "remove", at });
    toast(`Assertion ${at + 1} is removed.`, {
      label: "Undo",
      run: () => change({ kind: "insert", at, value }),
    });
  };

  return (
    <section className="stack" aria-labelledby="assertions-heading">
      <div className="stack-tight">
        <h2 id="assertions-heading">
          Assertions <span className="quiet">{assertions.length}</span>
        </h2>
        {vocabulary && vocabulary.traces > 0 && (
          <p className="quiet small">
            Completions come from the latest {vocabulary.traces} traces
            {vocabulary.complete ? "" : ", not all of which could be read"}.
          </p>
        )}
      </div>
      {document["assertions"] !== undefined && !Array.isArray(document["assertions"]) && (
        <p className="quiet">The assertions are no list here: set that right in the JSON.</p>
      )}
      {assertions.length > 0 && (
        <ol className="stack">
          {assertions.map((assertion, at) => (
            <AssertionCard
              key={editing.keys[at]}
              identity={editing.keys[at]!}
              assertion={assertion}
              at={at}
              isLast={at === assertions.length - 1}
              ids={ids}
              arrived={editing.arrived === editing.keys[at]}
              onCopy={() => copy(at)}
              onRemove={() => remove(at)}
            />
          ))}
        </ol>
      )}
      <div className="stack-tight" data-path="assertions" data-key="add">
        <div className="line">
          <Menu
            icon="plus"
            data-part="add"
            aria-describedby={fault ? faultId : undefined}
            entries={Object.entries(assertionTypes).map(([type, { about }]) => ({
              kind: "action",
              label: `${checkTypes[type as keyof typeof checkTypes]}: ${about}`,
              onChoose: () => add(type),
            }))}
          >
            Add assertion
          </Menu>
        </div>
        <Fault id={faultId} fault={fault} />
      </div>
    </section>
  );
}
