// Own rules of an agent in its settings: attributes that are read as documented ones, tried on a past trace before saving.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Agent } from "../../src/http/projects/schemas.ts";
import type { Failure } from "../api.ts";
import "../styles/rules.css";
import { attributeKeys, spanNames } from "../completions.ts";
import { updateAgent } from "../mutations/agents.ts";
import { agentQuery } from "../queries/agents.ts";
import { readNow } from "../queries/client.ts";
import { conventionsQuery } from "../queries/conventions.ts";
import { vocabularyQuery } from "../queries/editor.ts";
import { Button } from "../ui/Button.tsx";
import { FailureNotice, Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { OutdatedNotice } from "./OutdatedNotice.tsx";
import { type DraftRule, fromDraft, type Rule, RuleRows, toDraft } from "./RuleRows.tsx";
import { TryRules } from "./TryRules.tsx";
import { unmarked } from "./unmarked.ts";
import { useDraft } from "./use-draft.ts";

const drafting = {
  toDraft: (rules: Rule[]) => rules.map(toDraft),
  fromDraft: (drafts: DraftRule[]) => drafts.map(fromDraft),
};

export function OwnRules({ agent, targets }: { agent: Agent; targets: string[] }) {
  const queries = useQueryClient();
  const { data: vocabulary } = useQuery(vocabularyQuery(agent.id));
  const query = agentQuery(agent.id);
  const {
    draft: drafts,
    isChanged,
    isOutdated,
    ...drafted
  } = useDraft(agent.conventionRules, drafting, async () => (await readNow(queries, query)).conventionRules);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const section = useRef<HTMLElement>(null);
  const rules = drafts.map(fromDraft);

  const clear = () => {
    setFaults(new Map());
    setFailure(undefined);
  };
  const change = (next: DraftRule[]) => {
    drafted.replace(next);
    clear();
  };
  const discard = () => {
    drafted.discard();
    clear();
  };
  const refuse = (refused: Failure) => {
    const ofRows = (refused.issues ?? []).filter(({ path }) => path.includes("["));
    flushSync(() => setFaults(new Map(ofRows.map(({ path, message }) => [path, message]))));
    section.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    setFailure(unmarked(refused, path => path.includes("[")));
  };
  const save = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = (await drafted.isCurrent()) && (await updateAgent(agent.id, { conventionRules: rules }));
    setBusy(false);
    if (!answer) return;
    if (!answer.ok) return refuse(answer.failure);
    drafted.settle(drafts, answer.value.conventionRules);
    queries.setQueryData(query.queryKey, answer.value);
    toast("Rules saved");
    await Promise.all([
      queries.invalidateQueries({ queryKey: conventionsQuery(agent.id).queryKey }),
      queries.invalidateQueries({ queryKey: ["traces"] }),
    ]);
  };
  const add = () => {
    flushSync(() => change([...drafts, toDraft({ to: targets[0]! })]));
    section.current?.querySelector<HTMLElement>("li:last-child input")?.focus();
  };
  const remove = (at: number) => {
    flushSync(() => change(drafts.toSpliced(at, 1)));
    // Focus the remove button of the next row, or "Add rule".
    section.current?.querySelectorAll("button")[at]?.focus();
  };
  return (
    <section className="stack" aria-labelledby="own-rules" ref={section}>
      <div className="stack-tight">
        <h3 id="own-rules">Own rules</h3>
        <p className="quiet">
          Read attributes of your own as documented ones, before any convention. A span’s name is exact; with
          * at the end, its beginning.
        </p>
      </div>
      {drafts.length > 0 && (
        <RuleRows
          drafts={drafts}
          targets={targets}
          attributes={attributeKeys(vocabulary)}
          spans={spanNames(vocabulary)}
          faults={faults}
          onChange={change}
          onRemove={remove}
        />
      )}
      {faults.size > 0 && (
        <Notice tone="bad" role="alert">
          Fix the marked rules.
        </Notice>
      )}
      <FailureNotice failure={failure} />
      <OutdatedNotice isOutdated={isOutdated} />
      <div className="line line-apart">
        <Button icon="plus" onClick={add}>
          Add rule
        </Button>
        <div className="line">
          {isChanged && <Button onClick={discard}>Discard changes</Button>}
          <Button look="main" busy={busy || !isChanged} onClick={() => void save()}>
            Save rules
          </Button>
        </div>
      </div>
      {drafts.length > 0 && <TryRules agent={agent} rules={rules} onRefused={refuse} />}
    </section>
  );
}
