// Where things are on the dashboard, by role and name.
import type { Target } from "./page.ts";

const target =
  (role: string) =>
  (name: string | RegExp, within?: Target): Target => ({ role, name, ...(within && { within }) });

export const button = target("button");
export const heading = target("heading");
export const link = target("link");
export const field = target("field");
export const text = target("text");
export const dialog = target("dialog");
export const region = target("region");

export const tracesTable: Target = { role: "table", name: "Traces" };
export const spanTree: Target = { role: "tree", name: "Spans" };
export const spanRow = (name: RegExp): Target => ({ role: "treeitem", name, within: spanTree });
