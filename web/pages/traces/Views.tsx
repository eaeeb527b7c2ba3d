// Saved views: named sets of filters, kept per agent in this browser.
import { Link } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { type PersistedChoice, persistedChoice } from "../../persisted-choice.ts";
import { type TraceSearch, traceSearch } from "../../queries/trace-search.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Popover } from "../../ui/Popover.tsx";

type View = { name: string; search: TraceSearch };

const viewsByAgent = new Map<string, PersistedChoice<string>>();

function viewsOf(agentId: string): PersistedChoice<string> {
  const views = viewsByAgent.get(agentId) ?? persistedChoice<string>(`trace-views-${agentId}`, "[]", isViews);
  viewsByAgent.set(agentId, views);
  return views;
}

export function ViewsPopover({ agentId, search }: { agentId: string; search: TraceSearch }) {
  const store = viewsOf(agentId);
  const views: View[] = JSON.parse(store.use());
  const keep = (next: View[]) => store.set(JSON.stringify(next));
  const text = searchText(search);
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get("name")).trim();
    if (!name) return;
    const others = views.filter(view => view.name !== name);
    keep([...others, { name, search }].sort((one, other) => one.name.localeCompare(other.name)));
    form.reset();
  };
  const shown = views.find(view => searchText(view.search) === text);
  return (
    <Popover
      icon="bookmark"
      title="Saved views"
      panel={close => (
        <>
          <h2 className="menu-label">Saved views</h2>
          {views.length === 0 && (
            <p className="menu-label">No saved views. Set filters, then save them under a name.</p>
          )}
          <ul>
            {views.map(view => (
              <li key={view.name} className="view">
                <Link
                  to="."
                  search={view.search}
                  className="menu-item panel-item"
                  aria-current={view === shown || undefined}
                  onClick={close}
                >
                  <span className="menu-tick">{view === shown && <Icon name="check" />}</span>
                  <bdi>{view.name}</bdi>
                </Link>
                <Button
                  look="plain"
                  small
                  icon="trash"
                  aria-label={`Delete view ${view.name}`}
                  onClick={event => {
                    // Before the focused button is removed, the name input takes the focus.
                    event.currentTarget.closest("[role=dialog]")?.querySelector("input")?.focus();
                    keep(views.filter(one => one !== view));
                  }}
                />
              </li>
            ))}
          </ul>
          <form className="panel-form" onSubmit={save}>
            <label className="stack-tight">
              Save filters as
              <input className="input" name="name" maxLength={60} required autoComplete="off" />
            </label>
            <Button type="submit">Save view</Button>
          </form>
        </>
      )}
    >
      <bdi className="chosen-text">{shown?.name ?? "Views"}</bdi>
    </Popover>
  );
}

/** Equal for equal filters, whatever the order in which they were set. */
function searchText(search: TraceSearch): string {
  return traceSearch.map(name => search[name] ?? "").join("\n");
}

function isViews(text: string): boolean {
  try {
    const views = JSON.parse(text);
    return (
      Array.isArray(views) &&
      views.every(
        ({ name, search }) =>
          typeof name === "string" && Object.values(search).every(value => typeof value === "string"),
      )
    );
  } catch {
    return false;
  }
}
