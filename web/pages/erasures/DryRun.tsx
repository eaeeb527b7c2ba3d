// What a dry run finds: the number of traces, the first places, what else has the value, and the form that erases it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ErasureDetail } from "../../../src/http/projects/erasure-schemas.ts";
import { numberText } from "../../format.ts";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { type Faults, textOf, useSubmit } from "../../forms/submit.ts";
import { startErasure, type WantedCriterion } from "../../mutations/erasures.ts";
import { erasureQuery } from "../../queries/erasures.ts";
import { Field } from "../../ui/Field.tsx";
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
        <>
          <Mentions found={found} projectId={projectId} />
          {(matched > 0 || found.criterion === "text") && (
            <EraseForm found={found} projectId={projectId} {...props} />
          )}
        </>
      )}
    </>
  );
}

function EraseForm({ found, projectId, wanted, onErase }: FoundProps) {
  const { matched } = found;
  const { form, busy, faults, failure } = useSubmit<ErasureDetail>({
    check: (fields): Faults => {
      const isConfirmed = matched === 0 || textOf(fields, "confirm").trim() === String(matched);
      return isConfirmed ? {} : { confirm: "The number does not match." };
    },
    send: () => startErasure(projectId, wanted, matched),
    done: onErase,
  });
  return (
    <form {...form} className="stack">
      <p>
        {matched === 0
          ? "Deletes results, judge calls and manual runs that quote the text. This cannot be undone."
          : "Deletes evaluations, judge calls, labels, manual runs and log records of these traces, and what quotes them elsewhere. This cannot be undone."}
      </p>
      {matched > 0 && (
        <Field
          label={`Type ${matched} to confirm`}
          name="confirm"
          inputMode="numeric"
          required
          fault={faults["confirm"]}
          autoComplete="off"
        />
      )}
      <SubmitRow failure={failure} busy={busy} look="danger">
        {matched === 0 ? "Erase quotes" : `Erase ${tracesText(matched)}`}
      </SubmitRow>
    </form>
  );
}

/** What an erasure leaves as it is: tests, notes and saved views, each with a link to where it is edited. */
function Mentions({ found, projectId }: Pick<FoundProps, "found" | "projectId">) {
  const { tests, notes, views, more } = found;
  if (tests.length + notes.length + views.length === 0) return null;
  return (
    <div className="stack">
      <h3>Also mentions</h3>
      <p>Tests, notes and saved views are not erased. Edit, disable or delete these first.</p>
      <Held label="Tests" count={tests.length}>
        {tests.map(({ id, agentId, name, ...test }) => (
          <HeldItem key={id} excerpt={heldText(test)}>
            <Link
              to="/projects/$projectId/agents/$agentId/tests/$testId"
              params={{ projectId, agentId, testId: id }}
              target="_blank"
            >
              {name}
            </Link>
          </HeldItem>
        ))}
      </Held>
      <Held label="Notes" count={notes.length}>
        {notes.map(({ agentId, traceId, testId, testName, excerpt }) => (
          <HeldItem key={`${traceId} ${testId} ${excerpt}`} excerpt={excerpt}>
            <Link
              to="/projects/$projectId/agents/$agentId/traces/$traceId"
              params={{ projectId, agentId, traceId }}
              target="_blank"
            >
              {testName}
            </Link>
          </HeldItem>
        ))}
      </Held>
      <Held label="Saved views" count={views.length}>
        {views.map(({ id, agentId, name, excerpt }) => (
          <HeldItem key={id} excerpt={excerpt}>
            <Link
              to="/projects/$projectId/agents/$agentId/traces"
              params={{ projectId, agentId }}
              target="_blank"
            >
              {name}
            </Link>
          </HeldItem>
        ))}
      </Held>
      {more && <p className="quiet small">More match than are listed. Search again after editing these.</p>}
    </div>
  );
}

/** What a test has of the erased: the value, words of a trace, or both. */
function heldText({ excerpt, draftedFrom }: { excerpt: string; draftedFrom: string | null }): string {
  if (draftedFrom === null) return excerpt;
  return excerpt === "" ? "Drafted from a found trace" : `Drafted from a found trace: ${excerpt}`;
}

function Held({ label, count, children }: { label: string; count: number; children: ReactNode }) {
  if (count === 0) return null;
  return (
    <>
      <h4>{label}</h4>
      <ul className="stack-tight">{children}</ul>
    </>
  );
}

function HeldItem({ excerpt, children }: { excerpt: string; children: ReactNode }) {
  return (
    <li className="small">
      {children} <bdi className="quiet break">{excerpt}</bdi>
    </li>
  );
}
