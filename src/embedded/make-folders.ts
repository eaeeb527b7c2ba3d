// Creates a folder and its parents, and says in words why that fails.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * The first folder that was created, or undefined if the folder exists. Throws an error whose message names the folder that is in
 * the way. Node's own `recursive` never returns where nothing can be created in a folder that exists, such as /proc.
 */
export function makeFolders(path: string, mode?: number): string | undefined {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  let first: string | undefined;
  for (const at of missing) {
    try {
      mkdirSync(at, mode);
      first ??= at;
    } catch (error) {
      // Another process may have been faster.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST")
        throw new Error(faultOf(error, dirname(at)), { cause: error });
    }
  }
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`);
  return first;
}

/** Why nothing can be created in this folder. */
export function faultOf(error: unknown, folder: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "EACCES":
    case "EPERM":
      return `this user may not create anything in ${folder}`;
    case "EROFS":
      return `${folder} is on a read-only file system`;
    case "ENOENT":
      return `nothing can be created in ${folder}`;
    case "ENOTDIR":
      return `${folder} is not a folder`;
    default:
      return message;
  }
}
