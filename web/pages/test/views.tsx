// The editor's views (form, JSON, dry run): side by side on wide screens, otherwise one at a time, chosen by the URL.
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");
const editorRoute = "/projects/$projectId/agents/$agentId/tests/$testId";

const views = { form: "Form", json: "JSON", try: "Dry run" } as const;
type View = keyof typeof views;

/** The tabs, for screens too narrow to show all views. */
export function Views({ view }: { view: View }) {
  return (
    <nav className="tabs editor-views" aria-label="Views">
      {(Object.keys(views) as View[]).map(one => (
        <Link
          key={one}
          from={editorRoute}
          to="."
          search={was => ({ ...was, view: one === "form" ? undefined : one })}
          replace
          className="tab"
          activeOptions={{ exact: true, explicitUndefined: true }}
          aria-current={one === view ? "page" : undefined}
        >
          {views[one]}
        </Link>
      ))}
    </nav>
  );
}

/** Whether all views are shown side by side. */
export function isWide(): boolean {
  return matchMedia("(min-width: 1280px)").matches;
}

/** The view in the URL, and a function that runs an action in a view once it is shown. */
export function useView(): [view: View, inView: (wanted: View, act: () => void) => void] {
  const { view: asked } = route.useSearch();
  const navigate = useNavigate({ from: editorRoute });
  const view = asked === "json" || asked === "try" ? asked : "form";
  const waiting = useRef<{ view: View; act: () => void }>(undefined);
  useEffect(() => {
    if (waiting.current?.view !== view) return;
    waiting.current.act();
    waiting.current = undefined;
  }, [view]);
  const inView = (wanted: View, act: () => void) => {
    if (isWide() || view === wanted) return act();
    waiting.current = { view: wanted, act };
    void navigate({
      search: was => ({ ...was, view: wanted === "form" ? undefined : wanted }),
      replace: true,
    });
  };
  return [view, inView];
}
