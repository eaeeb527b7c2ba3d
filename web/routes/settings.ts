// Routes of the account settings.
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { member } from "./accounts.ts";

const settings = createRoute({
  path: "/settings",
  getParentRoute: () => member,
  beforeLoad: ({ location }) => {
    if (location.pathname === "/settings") throw redirect({ to: "/settings/profile" });
  },
  component: lazyRouteComponent(() => import("../pages/settings/SettingsPage.tsx"), "SettingsPage"),
});
const settingsProfile = createRoute({
  path: "/profile",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("../pages/settings/SettingsProfile.tsx"), "SettingsProfile"),
});
const settingsSessions = createRoute({
  path: "/sessions",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("../pages/settings/SettingsSessions.tsx"), "SettingsSessions"),
});
const settingsTokens = createRoute({
  path: "/tokens",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("../pages/settings/SettingsTokens.tsx"), "SettingsTokens"),
});
const settingsJudge = createRoute({
  path: "/judge",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("../pages/settings/SettingsJudge.tsx"), "SettingsJudge"),
});
const settingsAlerts = createRoute({
  path: "/alerts",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("../pages/settings/SettingsAlerts.tsx"), "SettingsAlerts"),
});
const settingsRetention = createRoute({
  path: "/retention",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("../pages/settings/SettingsRetention.tsx"), "SettingsRetention"),
});
const settingsAppearance = createRoute({
  path: "/appearance",
  getParentRoute: () => settings,
  component: lazyRouteComponent(
    () => import("../pages/settings/SettingsAppearance.tsx"),
    "SettingsAppearance",
  ),
});
const settingsShortcuts = createRoute({
  path: "/shortcuts",
  getParentRoute: () => settings,
  component: lazyRouteComponent(() => import("../pages/settings/SettingsShortcuts.tsx"), "SettingsShortcuts"),
});

export const settingsTree = settings.addChildren([
  settingsProfile,
  settingsSessions,
  settingsTokens,
  settingsJudge,
  settingsAlerts,
  settingsRetention,
  settingsAppearance,
  settingsShortcuts,
]);
