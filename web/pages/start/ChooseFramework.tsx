// The frameworks of a language: buttons, or a list where the window is narrow.
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useId } from "react";
import { useMedia } from "../../ui/media.ts";
import { frameworksOf, lastTab, type Sender, type Tab } from "./senders.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/start");
const to = "/projects/$projectId/agents/$agentId/start";

export function ChooseFramework({ sender, tab }: { sender: Sender; tab: Tab }) {
  const params = route.useParams();
  const navigate = useNavigate();
  const isNarrow = useMedia("(max-width: 639px)");
  const id = useId();
  const frameworks = frameworksOf(sender);
  if (frameworks.length < 2) return null;
  if (isNarrow) {
    const choose = (chosen: string) => {
      lastTab.set(chosen);
      void navigate({ to, params, search: { tab: chosen }, resetScroll: false });
    };
    return (
      <div className="field">
        <label htmlFor={id}>Framework</label>
        <select id={id} className="input" value={tab} onChange={event => choose(event.target.value)}>
          {frameworks.map(one => (
            <option key={one.tab} value={one.tab}>
              {one.label}
            </option>
          ))}
        </select>
      </div>
    );
  }
  return (
    <nav className="start-frameworks" aria-label="Framework">
      {frameworks.map(one => (
        <Link
          key={one.tab}
          to={to}
          params={params}
          search={{ tab: one.tab }}
          resetScroll={false}
          onClick={() => lastTab.set(one.tab)}
          className="start-framework"
          aria-current={one.tab === tab ? "page" : undefined}
        >
          {one.label}
        </Link>
      ))}
    </nav>
  );
}
