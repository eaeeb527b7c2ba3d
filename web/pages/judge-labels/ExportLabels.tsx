// Downloads the labels, with what the judge was asked, as a set for the judge benchmark.
import { useState } from "react";
import type { LabelSet } from "../../../src/http/judge/label-schemas.ts";
import type { Failure } from "../../api.ts";
import { download } from "../../download.ts";
import { readLabelSet } from "../../mutations/labels.ts";
import type { LabelScope } from "../../queries/labels.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";

export function ExportLabels({ scope }: { scope: LabelScope }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const save = async () => {
    setBusy(true);
    setFailure(undefined);
    const labels: LabelSet["labels"] = [];
    for (let cursor: string | undefined; ; ) {
      const answer = await readLabelSet(scope, cursor);
      if (!answer.ok) {
        setFailure(answer.failure);
        break;
      }
      labels.push(...answer.value.labels);
      cursor = answer.value.nextCursor ?? undefined;
      if (cursor !== undefined) continue;
      download("labels.json", JSON.stringify({ ...answer.value, labels }, null, 2), "application/json");
      break;
    }
    setBusy(false);
  };
  return (
    <>
      <Button icon="download" busy={busy} onClick={() => void save()}>
        Export labels
      </Button>
      <FailureNotice failure={failure} />
    </>
  );
}
