// Privacy settings of a project: what is redacted, what the judge sees, and what leaves Onlooker.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Privacy } from "../../../src/http/privacy-schemas.ts";
import type { Failure } from "../../api.ts";
import { OutdatedNotice } from "../../forms/OutdatedNotice.tsx";
import { unmarked } from "../../forms/unmarked.ts";
import { useDraft } from "../../forms/use-draft.ts";
import { savePrivacy } from "../../mutations/privacy.ts";
import { readNow } from "../../queries/client.ts";
import { privacyQuery, pseudonymKeyQuery } from "../../queries/privacy.ts";
import "../../styles/rules.css";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ProjectFrame } from "../project/ProjectFrame.tsx";
import { type DraftPrivacy, fromDraft, toDraft } from "./draft.ts";
import { JudgeSection } from "./JudgeSection.tsx";
import { PseudonymKeySection } from "./PseudonymKeySection.tsx";
import { RedactionSection } from "./RedactionSection.tsx";
import { TryRedaction } from "./TryRedaction.tsx";
import { WhatLeaves } from "./WhatLeaves.tsx";

const route = getRouteApi("/member/projects/$projectId/settings/privacy");
const drafting = { toDraft, fromDraft };
const isMarked = (path: string) => /^(rules\[|pseudonyms|builtIn$|judgeRules$)/.test(path);

export function PrivacyPage() {
  const { projectId } = route.useParams();
  const query = useQuery(privacyQuery(projectId));
  return (
    <ProjectFrame part="Privacy">
      <Loaded query={query}>
        {settings => <PrivacyForm key={projectId} projectId={projectId} saved={settings} />}
      </Loaded>
      <PseudonymKeySection projectId={projectId} />
      <WhatLeaves projectId={projectId} />
    </ProjectFrame>
  );
}

function PrivacyForm({ projectId, saved }: { projectId: string; saved: Privacy }) {
  const queries = useQueryClient();
  const query = privacyQuery(projectId);
  const { draft, isChanged, isOutdated, ...drafted } = useDraft(saved, drafting, () =>
    readNow(queries, query),
  );
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  const settings = fromDraft(draft);

  const clear = () => {
    setFaults(new Map());
    setFailure(undefined);
  };
  const change = (fields: Partial<DraftPrivacy>) => {
    drafted.change(fields);
    clear();
  };
  const discard = () => {
    drafted.discard();
    clear();
  };
  const refuse = (refused: Failure) => {
    const issues = refused.issues ?? [];
    flushSync(() => setFaults(new Map(issues.map(({ path, message }) => [path, message]))));
    form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    setFailure(unmarked(refused, isMarked));
  };
  const save = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = (await drafted.isCurrent()) && (await savePrivacy(projectId, settings));
    setBusy(false);
    if (!answer) return;
    if (!answer.ok) return refuse(answer.failure);
    drafted.settle(draft, answer.value);
    queries.setQueryData(query.queryKey, answer.value);
    toast("Privacy settings saved");
    await queries.invalidateQueries({ queryKey: pseudonymKeyQuery(projectId).queryKey });
  };
  return (
    <div className="stack privacy" ref={form}>
      <RedactionSection draft={draft} faults={faults} onChange={change} />
      <JudgeSection draft={draft} faults={faults} onChange={change} />
      {[...faults.keys()].some(isMarked) && (
        <Notice tone="bad" role="alert">
          Fix the marked fields.
        </Notice>
      )}
      <FailureNotice failure={failure} />
      <OutdatedNotice isOutdated={isOutdated} />
      <div className="card stack">
        <TryRedaction projectId={projectId} settings={settings} onRefused={refuse} />
        <div className="line line-end">
          {isChanged && <Button onClick={discard}>Discard changes</Button>}
          <Button look="main" busy={busy || !isChanged} onClick={() => void save()}>
            Save privacy settings
          </Button>
        </div>
      </div>
    </div>
  );
}
