// Layout of the user's settings: title and tabs, each with its own URL.
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Page } from "../../ui/Page.tsx";

const tabs = [
  { to: "/settings/profile", label: "Profile" },
  { to: "/settings/sessions", label: "Sessions" },
  { to: "/settings/tokens", label: "Access tokens" },
  { to: "/settings/judge", label: "Judge" },
  { to: "/settings/alerts", label: "Alerts" },
  { to: "/settings/retention", label: "Retention" },
  { to: "/settings/appearance", label: "Appearance" },
  { to: "/settings/shortcuts", label: "Shortcuts" },
] as const;

export function SettingsPage() {
  const { pathname } = useLocation();
  return (
    <Page title="Settings" part={tabs.find(({ to }) => to === pathname)?.label}>
      <nav className="tabs" aria-label="Settings">
        {tabs.map(({ to, label }) => (
          <Link key={to} to={to} className="tab">
            {label}
          </Link>
        ))}
      </nav>
      <div className="narrow stack">
        <Outlet />
      </div>
    </Page>
  );
}
