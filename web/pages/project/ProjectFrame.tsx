// Layout of the project settings: title and tabs, each with its own URL.
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Page } from "../../ui/Page.tsx";

const route = getRouteApi("/member/projects/$projectId");

const tabs = [
  { to: "/projects/$projectId/settings", label: "General" },
  { to: "/projects/$projectId/settings/judge", label: "Judge" },
  { to: "/projects/$projectId/settings/labels", label: "Labels" },
  { to: "/projects/$projectId/settings/prices", label: "Prices" },
  { to: "/projects/$projectId/settings/privacy", label: "Privacy" },
  { to: "/projects/$projectId/settings/erasures", label: "Erase data" },
] as const;

type ProjectFrameProps = {
  part?: "Judge" | "Labels" | "Prices" | "Privacy" | "Erase data";
  children: ReactNode;
};

export function ProjectFrame({ part, children }: ProjectFrameProps) {
  const params = route.useParams();
  return (
    <Page title="Project settings" part={part}>
      <nav className="tabs" aria-label="Project settings">
        {tabs.map(({ to, label }) => (
          <Link key={to} to={to} params={params} className="tab" activeOptions={{ exact: true }}>
            {label}
          </Link>
        ))}
      </nav>
      <div className={part === "Prices" || part === "Labels" ? "prices stack" : "narrow stack"}>
        {children}
      </div>
    </Page>
  );
}
