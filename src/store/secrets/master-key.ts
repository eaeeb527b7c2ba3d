// Reads the key that encrypts stored secrets: SVC_SECRET_KEY, or a file in the data folder, created once.
import { randomBytes } from "node:crypto";
import { type FileHandle, link, open, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { makeFolders } from "../../embedded/make-folders.ts";
import { masterKeyBytes } from "./vault.ts";

/** The key file is unusable. The message is one line for the operator and never shows the key. */
export class MasterKeyError extends Error {
  override name = "MasterKeyError";
}

/**
 * 32 bytes: SVC_SECRET_KEY, else `secret.key` in the data folder, which is created if missing. Processes that start
 * concurrently get the same key. Throws MasterKeyError.
 */
export async function masterKeyOf({
  secretKey,
  dataDir,
}: Pick<Config, "secretKey" | "dataDir">): Promise<Buffer> {
  if (secretKey !== undefined) return Buffer.from(secretKey, "hex");
  const path = join(dataDir, "secret.key");
  try {
    return (await readKey(path)) ?? (await createKey(path));
  } catch (error) {
    if (error instanceof MasterKeyError) throw error;
    throw new MasterKeyError(
      `The key file of the stored secrets, ${path}, cannot be read or created: ${(error as Error).message}. Fix that, set SVC_DATA_DIR to a folder that this user owns, or set SVC_SECRET_KEY.`,
      { cause: error },
    );
  }
}

/** The same key, or undefined where the start would create one. Throws MasterKeyError. */
export async function findMasterKey({
  secretKey,
  dataDir,
}: Pick<Config, "secretKey" | "dataDir">): Promise<Buffer | undefined> {
  return secretKey === undefined ? readKey(join(dataDir, "secret.key")) : Buffer.from(secretKey, "hex");
}

/** Writes the key into the data folder unless there is one. Returns the one that is there now. */
export function placeMasterKey(dataDir: string, key: Buffer): Promise<Buffer> {
  return createKey(join(dataDir, "secret.key"), key);
}

/** Undefined if there is no file. */
async function readKey(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, "utf8").catch(error => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = text.trim();
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, "hex");
  throw new MasterKeyError(
    `${path} contains no key. Restore it from your backup, or delete it and enter the stored secrets again.`,
  );
}

/** Written to a draft and then linked, which is atomic: a second process finds the first one's key. */
async function createKey(path: string, key: Buffer = randomBytes(masterKeyBytes)): Promise<Buffer> {
  makeFolders(dirname(path));
  const draft = `${path}.${process.pid}-${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await giveToOwnerOf(dirname(path), file);
      await file.writeFile(`${key.toString("hex")}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path).catch(error => {
      if (error.code !== "EEXIST") throw error;
    });
    const folder = await open(dirname(path), "r");
    await folder.sync().finally(() => folder.close());
  } finally {
    await rm(draft, { force: true });
  }
  return (await readKey(path))!;
}

/** Root may restore for another user, who owns the data folder and runs the service: a file of root's would be closed to it. */
async function giveToOwnerOf(folder: string, file: FileHandle): Promise<void> {
  if (process.getuid!() !== 0) return;
  const { uid, gid } = await stat(folder);
  if (uid !== 0) await file.chown(uid, gid);
}
