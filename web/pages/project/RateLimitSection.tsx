// How many requests a minute the keys of a project may send together.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { RateLimit } from "../../../src/http/projects/schemas.ts";
import { numberDrafting } from "../../forms/draft.ts";
import { RateLimitField } from "../../forms/RateLimitField.tsx";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { useSubmit } from "../../forms/submit.ts";
import { useDraft } from "../../forms/use-draft.ts";
import { saveRateLimit } from "../../mutations/projects.ts";
import { readNow } from "../../queries/client.ts";
import { rateLimitQuery } from "../../queries/rate-limit.ts";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";

export function RateLimitSection({ projectId }: { projectId: string }) {
  const query = useQuery(rateLimitQuery(projectId));
  return (
    <section className="card stack" aria-labelledby="rate-limit">
      <h2 id="rate-limit">Rate limit</h2>
      <Loaded query={query}>{saved => <RateLimitForm projectId={projectId} saved={saved} />}</Loaded>
    </section>
  );
}

function RateLimitForm({ projectId, saved }: { projectId: string; saved: RateLimit }) {
  const queries = useQueryClient();
  const query = rateLimitQuery(projectId);
  const { draft, ...drafted } = useDraft(
    saved.requestsPerMinute,
    numberDrafting,
    async () => (await readNow(queries, query)).requestsPerMinute,
  );
  const { form, faults, ...row } = useSubmit<RateLimit>({
    draft: drafted,
    send: () => saveRateLimit(projectId, numberDrafting.fromDraft(draft)),
    done(limit) {
      drafted.settle(draft, limit.requestsPerMinute);
      queries.setQueryData(query.queryKey, limit);
      toast("Rate limit saved");
    },
  });
  return (
    <form {...form} className="stack">
      <RateLimitField
        value={draft}
        onChange={({ target }) => drafted.replace(target.value)}
        hint="Of all API keys together. More are rejected with 429, and exporters may drop what they hold. If empty, there is no limit. A single key can have its own, under API keys."
        fault={faults["requestsPerMinute"]}
      />
      <SubmitRow {...row}>Save rate limit</SubmitRow>
    </form>
  );
}
