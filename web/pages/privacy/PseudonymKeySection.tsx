// The key of a project's pseudonyms, and replacing it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Failure } from "../../api.ts";
import { counted } from "../../labels.ts";
import { replacePseudonymKey } from "../../mutations/privacy.ts";
import { pseudonymKeyQuery } from "../../queries/privacy.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

export function PseudonymKeySection({ projectId }: { projectId: string }) {
  const query = useQuery(pseudonymKeyQuery(projectId));
  const [asking, setAsking] = useState(false);
  return (
    <section className="card stack" aria-labelledby="pseudonym-key">
      <div className="stack-tight">
        <h2 id="pseudonym-key">Pseudonym key</h2>
        <p className="quiet">
          The same value has the same pseudonym as long as the project has the same key. The key never leaves
          the server.
        </p>
      </div>
      <Loaded query={query}>
        {({ createdAt, readable, former }) => (
          <>
            {!readable && (
              <Notice tone="bad">
                The key was encrypted with another key of the server, so traces that need a pseudonym are
                refused. Restore the server’s secret key, or replace this one.
              </Notice>
            )}
            <p>
              {createdAt === null ? (
                "Created when the first rule or attribute is saved."
              ) : (
                <>
                  Created <RelativeTime at={createdAt} />.
                  {former > 0 && ` ${counted(former, "former key")} kept, to find what is to be erased.`}
                </>
              )}
            </p>
            {createdAt !== null && (
              <div className="line">
                <Button onClick={() => setAsking(true)}>Replace key</Button>
              </div>
            )}
          </>
        )}
      </Loaded>
      {asking && <ReplaceKey projectId={projectId} onClose={() => setAsking(false)} />}
    </section>
  );
}

function ReplaceKey({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const replace = async () => {
    setBusy(true);
    const answer = await replacePseudonymKey(projectId);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    queries.setQueryData(pseudonymKeyQuery(projectId).queryKey, answer.value);
    toast("Pseudonym key replaced");
    onClose();
  };
  return (
    <Dialog
      title="Replace the pseudonym key?"
      about="From now on the same user gets another pseudonym. Traces from before can no longer be matched with new ones."
      onClose={onClose}
      alert
    >
      <FailureNotice failure={failure} />
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" busy={busy} onClick={() => void replace()}>
          Replace key
        </Button>
      </div>
    </Dialog>
  );
}
