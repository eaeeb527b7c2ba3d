// The names of the tabs of the account's settings, in their order.
export const settingsTabs = [
  "Profile",
  "Sessions",
  "Access tokens",
  "Alerts",
  "Judge",
  "Retention",
  "Appearance",
  "Shortcuts",
];
