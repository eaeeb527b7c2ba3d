// Checks the licenses of the packages that users get: those that npm installs with ours, and those in the bundles.

/** The parts of a package-lock.json that are read. */
export type Lockfile = { packages: Record<string, LockedPackage> };

type LockedPackage = {
  version?: string;
  license?: string;
  dev?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
};

/** The packages whose license is not allowed, one line each. `bundled`: names of packages that the sources import. */
export function licenseProblems(lock: Lockfile, bundled: string[], allowed: string[]): string[] {
  const needed = Object.keys(lock.packages).filter(path => path !== "" && !lock.packages[path]!.dev);
  const shipped = new Set(needed);
  for (const name of bundled) addWithDependencies(lock, "", name, shipped);
  return [...shipped].sort().flatMap(path => {
    const { license, version } = lock.packages[path]!;
    if (license !== undefined && isAllowed(license, allowed)) return [];
    return `${nameOf(path)} ${version}: license ${license ?? "unknown"} is not allowed`;
  });
}

/** Of alternatives such as "(AFL-2.1 OR MIT)", one is enough. */
function isAllowed(license: string, allowed: string[]): boolean {
  const alternatives = license.replace(/^\(|\)$/g, "").split(/ or /i);
  return alternatives.some(one => one.split(/ and /i).every(part => allowed.includes(part)));
}

function addWithDependencies(lock: Lockfile, from: string, name: string, found: Set<string>): void {
  const path = resolved(lock, from, name);
  if (path === undefined || found.has(path)) return;
  found.add(path);
  const { dependencies, optionalDependencies, peerDependencies } = lock.packages[path]!;
  for (const one of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    addWithDependencies(lock, path, one, found);
  }
}

/** As Node does: the package in the nearest node_modules. */
function resolved(lock: Lockfile, from: string, name: string): string | undefined {
  for (
    let folder = from;
    ;
    folder = folder.slice(0, folder.lastIndexOf("node_modules/")).replace(/\/$/, "")
  ) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (lock.packages[path]) return path;
    if (folder === "") return undefined;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** The package of an import such as "@tanstack/react-query" or "react/jsx-runtime"; undefined for files and Node's own. */
export function packageOf(specifier: string): string | undefined {
  if (/^[./]|^node:/.test(specifier)) return undefined;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
