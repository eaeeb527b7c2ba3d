// The editor's views as tabs in the URL: form, JSON and, where it does not fit beside them, the dry run.
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useMedia } from "../../ui/media.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");
const editorRoute = "/projects/$projectId/agents/$agentId/tests/$testId";

const views = { form: "Form", json: "JSON", try: "Dry run" } as const;
type View = keyof typeof views;

/** The tabs: where there is room, the dry run is always beside the form or the JSON. */
export function Views({ view: asked }: { view: View }) {
  const isRoomy = useMedia(roomy);
  const view = isRoomy && asked === "try" ? "form" : asked;
  const shown = (Object.keys(views) as View[]).filter(one => !isRoomy || one !== "try");
  return (
    <nav className="tabs editor-views" aria-label="Views">
      {shown.map(one => (
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

const roomy = "(min-width: 1280px)";

function isShown(wanted: View, view: View): boolean {
  if (wanted === view) return true;
  return matchMedia(roomy).matches && (wanted === "try" || (wanted === "form" && view === "try"));
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
    if (isShown(wanted, view)) return act();
    waiting.current = { view: wanted, act };
    void navigate({
      search: was => ({ ...was, view: wanted === "form" ? undefined : wanted }),
      replace: true,
    });
  };
  return [view, inView];
}
