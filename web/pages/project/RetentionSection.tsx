// How long a project keeps its traces; a shorter time, which deletes traces, is confirmed.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Retention } from "../../../src/http/projects/retention-schemas.ts";
import type { Project } from "../../../src/http/projects/schemas.ts";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { numberDrafting } from "../../forms/draft.ts";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { useSubmit } from "../../forms/submit.ts";
import { useDraft } from "../../forms/use-draft.ts";
import { counted } from "../../labels.ts";
import { saveRetention } from "../../mutations/projects.ts";
import { readNow } from "../../queries/client.ts";
import { retentionQuery } from "../../queries/retention.ts";
import { Field } from "../../ui/Field.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";

const daysMax = 3650;

export function RetentionSection({ project }: { project: Project }) {
  const query = useQuery(retentionQuery(project.id));
  return (
    <section className="card stack" aria-labelledby="retention">
      <h2 id="retention">Retention</h2>
      <Loaded query={query}>{saved => <RetentionForm project={project} saved={saved} />}</Loaded>
    </section>
  );
}

function RetentionForm({ project, saved }: { project: Project; saved: Retention }) {
  const queries = useQueryClient();
  const [asking, setAsking] = useState<number>();
  const query = retentionQuery(project.id);
  const { draft, ...drafted } = useDraft(
    saved.days,
    numberDrafting,
    async () => (await readNow(queries, query)).days,
  );
  const { serverDays } = saved;
  const done = (retention: Retention) => {
    drafted.settle(draft, retention.days);
    queries.setQueryData(query.queryKey, retention);
    toast("Retention saved");
  };
  const { form, faults, ...row } = useSubmit<Retention | null>({
    draft: drafted,
    async send() {
      const days = numberDrafting.fromDraft(draft);
      // As just read, not as shown.
      const latest = queries.getQueryData(query.queryKey) ?? saved;
      const present = Math.min(latest.days ?? Infinity, serverDays ?? Infinity);
      if (days === null || days >= present) return saveRetention(project.id, days);
      setAsking(days);
      return { ok: true, value: null };
    },
    done(retention) {
      if (retention) done(retention);
    },
  });
  const kept =
    serverDays === null
      ? "If empty, they are kept until you delete them."
      : `If empty, ${counted(serverDays, "day")}, as for all projects of this server.`;
  return (
    <>
      <form {...form} className="stack">
        <Field
          label="Delete traces after (days, optional)"
          name="days"
          type="number"
          min={1}
          max={serverDays ?? daysMax}
          step={1}
          value={draft}
          onChange={({ target }) => drafted.replace(target.value)}
          hint={`Counted from a trace’s arrival. Everything about it is deleted with it; Insights keep their numbers. ${kept}`}
          fault={faults["days"]}
        />
        <SubmitRow {...row}>Save retention</SubmitRow>
      </form>
      {asking !== undefined && (
        <ConfirmDialog
          title="Delete older traces"
          about={`Deletes the traces of this project that are more than ${counted(asking, "day")} old, with their evaluations, labels and notes, and manual runs that they belong to. From then on, traces are deleted at that age. This cannot be undone.`}
          name={project.name}
          send={async () => {
            const answer = await saveRetention(project.id, asking);
            if (!answer.ok) return answer;
            done(answer.value);
            return { ok: true, value: undefined };
          }}
          action="Delete older traces"
          onDone={() => setAsking(undefined)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  );
}
