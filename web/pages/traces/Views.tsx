// Saved views: named sets of filters, kept with the account. Each is a URL that can be shared.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { SavedView } from "../../../src/http/traces/view-schemas.ts";
import { type Answer, type Failure, failureOf } from "../../api.ts";
import { deleteView, saveView } from "../../mutations/trace-views.ts";
import { isSameSearch, type TraceSearch } from "../../queries/trace-search.ts";
import { viewsQuery } from "../../queries/trace-views.ts";
import { Button } from "../../ui/Button.tsx";
import { copyText } from "../../ui/copy-text.ts";
import { Icon } from "../../ui/Icon.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { Popover } from "../../ui/Popover.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces");

type ViewsProps = { agentId: string; search: TraceSearch };

export function ViewsPopover({ agentId, search }: ViewsProps) {
  const { data: views = [], error } = useQuery(viewsQuery(agentId));
  const shown = views.find(view => isSameSearch(view.search, search));
  return (
    <Popover
      icon="bookmark"
      title="Saved views"
      panel={close => (
        <ViewList
          {...{ agentId, search, views, shown }}
          readFailure={error ? failureOf(error) : undefined}
          onClose={close}
        />
      )}
    >
      <bdi className="chosen-text">{shown?.name ?? "Views"}</bdi>
    </Popover>
  );
}

type ViewListProps = ViewsProps & {
  views: readonly SavedView[];
  /** The view whose filters the list has now. */
  shown: SavedView | undefined;
  readFailure: Failure | undefined;
  onClose: () => void;
};

function ViewList({ agentId, search, views, shown, readFailure, onClose }: ViewListProps) {
  const { busy, failure, change } = useChange(agentId);
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get("name")).trim();
    if (name && (await change(() => saveView(agentId, { name, search })))) form.reset();
  };
  return (
    <>
      <h2 className="menu-label">Saved views</h2>
      {views.length === 0 && !readFailure && (
        <p className="menu-label">No saved views. Set filters, then save them under a name.</p>
      )}
      <ul>
        {views.map(view => (
          <li key={view.id} className="view">
            <Link
              to="."
              search={view.search}
              className="menu-item panel-item"
              aria-current={view === shown || undefined}
              onClick={onClose}
            >
              <span className="menu-tick">{view === shown && <Icon name="check" />}</span>
              <bdi>{view.name}</bdi>
            </Link>
            <CopyLink view={view} />
            <Button
              look="plain"
              small
              icon="trash"
              aria-label={`Delete view ${view.name}`}
              onClick={event => {
                // Before the focused button is removed, the name input takes the focus.
                event.currentTarget.closest("[role=dialog]")?.querySelector("input")?.focus();
                void change(() => deleteView(view.id));
              }}
            />
          </li>
        ))}
      </ul>
      <FailureNotice failure={failure ?? readFailure} />
      <form className="panel-form" onSubmit={event => void save(event)}>
        <label className="stack-tight">
          Save filters as
          <input className="input" name="name" maxLength={60} required autoComplete="off" />
        </label>
        <Button type="submit" busy={busy}>
          Save view
        </Button>
      </form>
    </>
  );
}

function CopyLink({ view }: { view: SavedView }) {
  const router = useRouter();
  const params = route.useParams();
  const copy = () => {
    const to = "/projects/$projectId/agents/$agentId/traces";
    const { href } = router.buildLocation({ to, params, search: view.search });
    void copyText(location.origin + href, "link");
  };
  return (
    <Button look="plain" small icon="link" aria-label={`Copy link to view ${view.name}`} onClick={copy} />
  );
}

/** Sends one change at a time; `change` resolves to whether it succeeded. */
function useChange(agentId: string) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const change = async (send: () => Promise<Answer<unknown>>): Promise<boolean> => {
    setBusy(true);
    setFailure(undefined);
    const answer = await send();
    await queries.invalidateQueries({ queryKey: viewsQuery(agentId).queryKey });
    setBusy(false);
    if (!answer.ok) setFailure(answer.failure);
    return answer.ok;
  };
  return { busy, failure, change };
}
