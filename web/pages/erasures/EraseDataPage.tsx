// Erases data of a project: a criterion, what a dry run finds, the number to confirm, progress, and past erasures.
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useId, useRef, useState } from "react";
import type { ErasureDetail } from "../../../src/http/projects/erasure-schemas.ts";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { useUnsavedChanges } from "../../forms/unsaved.ts";
import { startDryRun, type WantedCriterion } from "../../mutations/erasures.ts";
import { erasureQuery, erasuresQuery } from "../../queries/erasures.ts";
import { Field } from "../../ui/Field.tsx";
import { ProjectFrame } from "../project/ProjectFrame.tsx";
import { DryRun } from "./DryRun.tsx";
import { ErasureProgress } from "./ErasureProgress.tsx";
import { PastErasures } from "./PastErasures.tsx";
import { criteria } from "./words.ts";

const route = getRouteApi("/member/projects/$projectId/settings/erasures");

type Open = { what: "dryRun"; id: string; wanted: WantedCriterion } | { what: "erasure"; id: string };

export function EraseDataPage() {
  const { projectId } = route.useParams();
  return (
    <ProjectFrame part="Erase data">
      <EraseData key={projectId} projectId={projectId} />
    </ProjectFrame>
  );
}

function EraseData({ projectId }: { projectId: string }) {
  const queries = useQueryClient();
  const [open, setOpen] = useState<Open>();
  const keep = (erasure: ErasureDetail) => queries.setQueryData(erasureQuery(erasure.id).queryKey, erasure);
  return (
    <>
      <p className="quiet">
        Find everything about a user, a conversation or a text in all traces of this project, look at what was
        found, then erase it for good. Backups keep what was erased until they are deleted, and PostgreSQL’s
        files until their space is used again.
      </p>
      <section className="card stack">
        <h2>Find data</h2>
        <CriterionForm
          projectId={projectId}
          // What an earlier search found must not be confirmed as the result of this one.
          onSearch={() => setOpen(undefined)}
          onFound={(dryRun, wanted) => {
            keep(dryRun);
            setOpen({ what: "dryRun", id: dryRun.id, wanted });
          }}
        />
      </section>
      {open?.what === "dryRun" && (
        <DryRun
          key={open.id}
          id={open.id}
          projectId={projectId}
          wanted={open.wanted}
          onErase={async erasure => {
            keep(erasure);
            setOpen({ what: "erasure", id: erasure.id });
            await queries.invalidateQueries({ queryKey: erasuresQuery(projectId).queryKey });
          }}
        />
      )}
      {open?.what === "erasure" && <ErasureProgress key={open.id} id={open.id} projectId={projectId} />}
      <PastErasures projectId={projectId} />
    </>
  );
}

type CriterionFormProps = {
  projectId: string;
  onSearch: () => void;
  onFound: (dryRun: ErasureDetail, wanted: WantedCriterion) => void;
};

function CriterionForm({ projectId, onSearch, onFound }: CriterionFormProps) {
  const id = useId();
  const [kind, setKind] = useState<WantedCriterion["kind"]>("userId");
  const [isTyped, setTyped] = useState(false);
  useUnsavedChanges(isTyped);
  const wanted = useRef<WantedCriterion>(null);
  const { form, busy, faults, failure } = useSubmit<ErasureDetail>({
    send: fields => {
      onSearch();
      wanted.current = { kind, value: textOf(fields, kind) };
      return startDryRun(projectId, wanted.current);
    },
    done: dryRun => {
      setTyped(false);
      onFound(dryRun, wanted.current!);
    },
  });
  const { field, hint } = criteria[kind];
  return (
    <form {...form} className="stack">
      <div className="field">
        <label htmlFor={id}>Find by</label>
        <select
          id={id}
          className="input"
          value={kind}
          onChange={({ target }) => {
            setKind(target.value as WantedCriterion["kind"]);
            setTyped(false);
          }}
        >
          {Object.entries(criteria).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <Field
        key={kind}
        label={field}
        name={kind}
        hint={hint}
        required
        onChange={({ target }) => setTyped(target.value !== "")}
        fault={faults[kind]}
        autoComplete="off"
        spellCheck={false}
      />
      <SubmitRow failure={failure} busy={busy}>
        Find data
      </SubmitRow>
    </form>
  );
}
