// What this copy of Onlooker is: its folders and version, and whether it is a release (npm package or image) or a checkout.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether this is a release, which has the sources as a bundle. */
export const isPackage = import.meta.filename.endsWith(".js");

/** The folder of the code: dist/server, where the bundle has this file too, or src. */
export const sources = isPackage ? import.meta.dirname : join(import.meta.dirname, "..");

/** The folder with package.json. */
export const root = join(sources, isPackage ? "../.." : "..");

export function readVersion(): string {
  return (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
}

/** How a person runs a command of this copy: `npm run svc --` in a checkout. */
export function commandName(name: "bootstrap" | "svc"): string {
  return isPackage ? `onlooker ${name}` : `npm run ${name} --`;
}
