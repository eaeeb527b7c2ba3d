// Form for how many requests a minute an API key may send.
import { useQueryClient } from "@tanstack/react-query";
import type { Key } from "../../src/http/projects/schemas.ts";
import { limitKey } from "../mutations/keys.ts";
import { keysQuery } from "../queries/keys.ts";
import { RateLimitField, rateLimitIn } from "./RateLimitField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { useSubmit } from "./submit.ts";

type KeyLimitFormProps = { projectId: string; limited: Key; onDone: (key: Key) => void };

export function KeyLimitForm({ projectId, limited, onDone }: KeyLimitFormProps) {
  const queries = useQueryClient();
  const { form, busy, faults, failure } = useSubmit<Key>({
    send: fields => limitKey(limited.id, rateLimitIn(fields)),
    done: async key => {
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
        defaultValue={limited.requestsPerMinute ?? ""}
        hint="More are rejected with 429, and exporters may drop what they hold. If empty, the key has no limit."
        fault={faults["requestsPerMinute"]}
      />
      <SubmitRow failure={failure} busy={busy}>
        Save limit
      </SubmitRow>
    </form>
  );
}
