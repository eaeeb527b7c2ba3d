// Form for how many requests a minute an API key may send.
import { useQueryClient } from "@tanstack/react-query";
import type { Key } from "../../src/http/projects/schemas.ts";
import { limitKey } from "../mutations/keys.ts";
import { keysQuery, readKeysNow } from "../queries/keys.ts";
import { numberDrafting } from "./draft.ts";
import { RateLimitField } from "./RateLimitField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

type KeyLimitFormProps = { projectId: string; limited: Key; onDone: (key: Key) => void };

export function KeyLimitForm({ projectId, limited, onDone }: KeyLimitFormProps) {
  const queries = useQueryClient();
  const saved = limited.requestsPerMinute;
  const { draft, ...drafted } = useDraft(saved, numberDrafting, async () => {
    const keys = await readKeysNow(queries, projectId);
    const now = keys.find(({ id }) => id === limited.id) ?? limited;
    return now.requestsPerMinute;
  });
  const { form, faults, ...row } = useSubmit<Key>({
    draft: drafted,
    send: () => limitKey(limited.id, numberDrafting.fromDraft(draft)),
    done: async key => {
      drafted.settle(draft, key.requestsPerMinute);
      await queries.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
      onDone(key);
    },
  });
  return (
    <form {...form} className="stack">
      <p>
        <code>{limited.masked}</code> {limited.name}
      </p>
      <RateLimitField
        value={draft}
        onChange={({ target }) => drafted.replace(target.value)}
        hint="More are rejected with 429, and exporters may drop what they hold. If empty, the key has no limit."
        fault={faults["requestsPerMinute"]}
      />
      <SubmitRow {...row}>Save limit</SubmitRow>
    </form>
  );
}
