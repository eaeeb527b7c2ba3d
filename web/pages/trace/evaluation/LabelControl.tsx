// Says whether the judge was right about a check or a scenario match, with a note.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Label } from "../../../../src/http/judge/label-schemas.ts";
import type { JudgedAnswer, LabelAnswer } from "../../../../src/model/judge/label.ts";
import type { Failure } from "../../../api.ts";
import { NotePopover } from "../../../forms/NotePopover.tsx";
import { deleteLabel, saveLabel } from "../../../mutations/labels.ts";
import { sessionQuery } from "../../../queries/account.ts";
import { runLabelsQuery } from "../../../queries/labels.ts";
import { Button } from "../../../ui/Button.tsx";
import { FailureNotice } from "../../../ui/Notice.tsx";
import { useTrace } from "./context.ts";
import { Long } from "./Value.tsx";

/** The two buttons by what the judge said: what each says, and the answer that it stands for. */
const choices: Record<JudgedAnswer, [text: string, answer: LabelAnswer][]> = {
  pass: [
    ["Right", "pass"],
    ["Wrong: it should fail", "fail"],
  ],
  fail: [
    ["Right", "fail"],
    ["Wrong: it should pass", "pass"],
  ],
  undecided: [
    ["It should pass", "pass"],
    ["It should fail", "fail"],
  ],
  match: [
    ["Right", "match"],
    ["Wrong: it should not match", "no_match"],
  ],
  unsure: [
    ["It should match", "match"],
    ["It should not match", "no_match"],
  ],
  no_match: [
    ["Right", "no_match"],
    ["Wrong: it should match", "match"],
  ],
};

/** `checkId` null: the scenario match. `about`: what the judge decided, for screen readers. */
type LabelControlProps = { testId: string; checkId: string | null; judged: JudgedAnswer; about: string };

export function LabelControl({ testId, checkId, judged, about }: LabelControlProps) {
  const { labeling } = useTrace();
  const { data: session } = useQuery(sessionQuery);
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  if (!labeling) return null;
  const isOwn = ({ createdBy }: Label) => createdBy?.id === session?.user.id;
  const same = (labels: readonly Label[]) =>
    labels.filter(one => one.testId === testId && one.checkId === checkId);
  const own = (labels: readonly Label[]) => same(labels).find(isOwn);
  const label = own(labeling.labels);
  const others = same(labeling.labels).filter(one => !isOwn(one));
  const { runId } = labeling;

  const change = async (work: () => ReturnType<typeof deleteLabel | typeof saveLabel>) => {
    setBusy(true);
    const answer = await work();
    setFailure(answer.ok ? undefined : answer.failure);
    await queries.invalidateQueries({ queryKey: ["labels"], refetchType: "none" });
    await queries.refetchQueries({ queryKey: runLabelsQuery(runId).queryKey });
    setBusy(false);
    return answer.ok;
  };
  const question = judged === "undecided" ? "What should the judge say" : "Is the judge right";
  const save = (answer: LabelAnswer, note: string) =>
    change(() => saveLabel(runId, { testId, checkId, answer, note }));
  /** Saving replaces the note, too, so one that was written elsewhere since is read first. */
  const choose = async (answer: LabelAnswer) => {
    setBusy(true);
    const now = await queries
      .fetchQuery({ ...runLabelsQuery(runId), staleTime: 0 })
      .then(({ items }) => own(items))
      .catch(() => label);
    return save(answer, now?.note ?? "");
  };

  return (
    <div className="label-control">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a line with its legend. */}
      <div className="line" role="group" aria-label={`${question} about ${about}?`}>
        <span className="quiet small">{question}?</span>
        {choices[judged].map(([text, answer]) => (
          <Button
            key={answer}
            small
            busy={busy}
            aria-pressed={label?.answer === answer}
            onClick={() => void (label?.answer !== answer && choose(answer))}
          >
            {text}
          </Button>
        ))}
        {label && (
          <>
            <NotePopover note={label.note} busy={busy} onSave={note => save(label.answer, note)} />
            <Button small look="plain" busy={busy} onClick={() => void change(() => deleteLabel(label.id))}>
              Remove label
            </Button>
          </>
        )}
      </div>
      {label && label.note !== "" && (
        <p className="label-note">
          <Long text={label.note} />
        </p>
      )}
      {others.map(({ id, createdBy, answer, note }) => (
        <div key={id} className="label-note">
          <p className="quiet small">
            <bdi>{createdBy?.name ?? "Deleted account"}</bdi>:{" "}
            {choices[judged].find(([, given]) => given === answer)?.[0]}
          </p>
          {note !== "" && <Long text={note} />}
        </div>
      ))}
      <FailureNotice failure={failure} />
    </div>
  );
}
