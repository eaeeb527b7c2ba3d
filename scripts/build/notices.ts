// THIRD-PARTY-NOTICES.md: the licenses of the packages that are bundled into the dashboard and the service.

import { readFileSync } from "node:fs";

type License = { name: string; version: string; identifier?: string; text?: string };

/** From the lists that Vite makes of each build, every package once. */
export function noticesOf(lists: string[]): string {
  const licenses = lists.flatMap(file => JSON.parse(readFileSync(file, "utf8")) as License[]);
  const sections = new Map(
    licenses.map(license => [`## ${license.name} ${license.version}`, textOf(license)]),
  );
  const sorted = [...sections].sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    "# Packages in Onlooker",
    "Onlooker contains these packages, each under the license below its name.",
    ...sorted.flat(),
    "",
  ].join("\n\n");
}

/** Some packages only name their license. */
function textOf({ name, identifier, text }: License): string {
  if (text === undefined && identifier === undefined) throw new Error(`${name} has no license`);
  return text ?? `License: ${identifier}`;
}
