// What a dry run finds: the number of traces, the first places, what else has the value, and the form that erases it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ErasureDetail } from "../../../src/http/projects/erasure-schemas.ts";
import { numberText } from "../../format.ts";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { type Faults, textOf, useSubmit } from "../../forms/submit.ts";
import { startErasure, type WantedCriterion } from "../../mutations/erasures.ts";
import { erasureQuery } from "../../queries/erasures.ts";
import { Choices, Field } from "../../ui/Field.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { progressText, tracesText } from "./words.ts";

type DryRunProps = {
  id: string;
  projectId: string;
  wanted: WantedCriterion;
  onErase: (erasure: ErasureDetail) => void | Promise<void>;
};

export function DryRun({ id, ...props }: DryRunProps) {
  const dryRun = useQuery(erasureQuery(id));
  return (
    <section className="card stack">
      <Loaded query={dryRun}>{found => <Found found={found} {...props} />}</Loaded>
    </section>
  );
}

type FoundProps = Omit<DryRunProps, "id"> & { found: ErasureDetail };

function Found({ found, projectId, ...props }: FoundProps) {
  const { state, matched, matches, error } = found;
  if (state === "running") {
    return (
      <>
        <h2>Searching</h2>
        <p role="status">{progressText(found)}</p>
        {error && <Notice tone="warn">{error}</Notice>}
      </>
    );
  }
  if (state === "failed") {
    return (
      <>
        <h2>Search failed</h2>
        <Notice tone="bad" role="alert">
          {error}
        </Notice>
      </>
    );
  }
  const rest = matched - matches.length;
  const isNothing = matched + found.tests.length + found.notes.length + found.views.length === 0;
  return (
    <>
      <div role="status">
        <h2>{matched === 0 ? "No traces found" : `${tracesText(matched)} found`}</h2>
        {error && <Notice tone="warn">{error}</Notice>}
      </div>
      {matches.length > 0 && (
        <ul className="stack-tight">
          {matches.map(({ traceId, agentId, in: part, path, excerpt }) => (
            <li key={traceId} className="small">
              <Link
                to="/projects/$projectId/agents/$agentId/traces/$traceId"
                params={{ projectId, agentId, traceId }}
                className="mono"
              >
                {traceId}
              </Link>{" "}
              <span className="quiet break">
                {part} {path}
              </span>{" "}
              <bdi className="break">
                <TraceText text={excerpt} />
              </bdi>
            </li>
          ))}
          {rest > 0 && <li className="quiet small">… and {numberText(rest)} more</li>}
        </ul>
      )}
      {isNothing ? (
        <p className="quiet">Nothing to erase. Check the spelling: case matters.</p>
      ) : (
        <EraseForm found={found} projectId={projectId} {...props} />
      )}
    </>
  );
}

function EraseForm({ found, projectId, wanted, onErase }: FoundProps) {
  const { matched, tests, notes, views, more } = found;
  const [testIds, setTestIds] = useState<string[]>([]);
  const [noteIds, setNoteIds] = useState<string[]>([]);
  const [viewIds, setViewIds] = useState<string[]>([]);
  const { form, busy, faults, failure } = useSubmit<ErasureDetail>({
    check: (fields): Faults => {
      if (matched > 0) {
        const isConfirmed = textOf(fields, "confirm").trim() === String(matched);
        return isConfirmed ? {} : { confirm: "The number does not match." };
      }
      return testIds.length + noteIds.length + viewIds.length > 0 ? {} : { chosen: "Choose at least one." };
    },
    send: () => startErasure(projectId, wanted, matched, { testIds, noteIds, viewIds }),
    done: onErase,
  });
  return (
    <form {...form} className="stack">
      {tests.length + notes.length + views.length > 0 && <h3>Also mentions</h3>}
      <Held
        name="testIds"
        label="Take the value out of these test cases, and disable those drafted from a found trace"
        items={tests.map(({ id, name, ...test }) => ({ id, title: name, excerpt: heldText(test) }))}
        chosen={testIds}
        onChoose={setTestIds}
      />
      <Held
        name="noteIds"
        label="Take the value out of these notes on other traces"
        items={notes.map(({ id, testName, excerpt }) => ({ id, title: testName, excerpt }))}
        chosen={noteIds}
        onChoose={setNoteIds}
      />
      <Held
        name="viewIds"
        label="Delete these saved views"
        items={views.map(({ id, name, excerpt }) => ({ id, title: name, excerpt }))}
        chosen={viewIds}
        onChoose={setViewIds}
      />
      {more && <p className="quiet small">More match than are listed. Search again after erasing.</p>}
      {matched === 0 ? (
        <p>
          {faults["chosen"] && (
            <span role="alert" className="text-bad">
              {faults["chosen"]}{" "}
            </span>
          )}
          Nothing else is changed. This cannot be undone.
        </p>
      ) : (
        <>
          <p>
            Also deletes evaluations, judge calls, labels, manual runs and log records of these traces. This
            cannot be undone.
          </p>
          <Field
            label={`Type ${matched} to confirm`}
            name="confirm"
            inputMode="numeric"
            required
            fault={faults["confirm"]}
            autoComplete="off"
          />
        </>
      )}
      <SubmitRow failure={failure} busy={busy} look="danger">
        {matched === 0 ? "Erase from chosen" : `Erase ${tracesText(matched)}`}
      </SubmitRow>
    </form>
  );
}

/** What a test has of the erased: the value, words of a trace, or both. */
function heldText({ excerpt, draftedFrom }: { excerpt: string; draftedFrom: string | null }): string {
  if (draftedFrom === null) return excerpt;
  return excerpt === "" ? "Drafted from a found trace" : `Drafted from a found trace: ${excerpt}`;
}

type HeldProps = {
  name: string;
  label: string;
  items: { id: string; title: string; excerpt: string }[];
  chosen: string[];
  onChoose: (ids: string[]) => void;
};

function Held({ name, label, items, chosen, onChoose }: HeldProps) {
  if (items.length === 0) return null;
  const choices = items.map(({ id, title, excerpt }) => ({ value: id, label: title, note: excerpt }));
  return <Choices many name={name} label={label} choices={choices} chosen={chosen} onChoose={onChoose} />;
}
