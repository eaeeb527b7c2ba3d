// What this copy of Onlooker is: its root folder and version, and whether it is the npm package or a checkout.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder with package.json. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Whether this is the npm package, which has the sources as JavaScript. */
export const isPackage = import.meta.filename.endsWith(".js");

export function readVersion(): string {
  return (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
}

/** How a person runs a command of this copy: `npm run svc --` in a checkout. */
export function commandName(name: "bootstrap" | "svc"): string {
  return isPackage ? `onlooker ${name}` : `npm run ${name} --`;
}
