// The key of the vault: the operator's, or one made once in the data folder and shared by all who start there.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { masterKeyBytes } from "./vault.ts";

/** The key's file cannot be used. The message is one line for the operator and never shows the key. */
export class MasterKeyError extends Error {
  override name = "MasterKeyError";
}

/**
 * 32 bytes: SVC_SECRET_KEY, else those of `secret.key` in the data folder, which is made where there is none. Of
 * several processes that start at once all get the same. Throws MasterKeyError.
 */
export async function masterKeyOf({
  secretKey,
  dataDir,
}: Pick<Config, "secretKey" | "dataDir">): Promise<Buffer> {
  if (secretKey !== undefined) return Buffer.from(secretKey, "hex");
  const path = join(dataDir, "secret.key");
  try {
    return (await readKey(path)) ?? (await makeKey(path));
  } catch (error) {
    if (error instanceof MasterKeyError) throw error;
    throw new MasterKeyError(
      `The key of the stored secrets, ${path}, cannot be read or made: ${(error as Error).message}. Set that right, or set SVC_SECRET_KEY.`,
      { cause: error },
    );
  }
}

/** Undefined where there is no file. */
async function readKey(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, "utf8").catch(error => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = text.trim();
  if (/^[0-9a-f]{64}$/i.test(key)) return Buffer.from(key, "hex");
  throw new MasterKeyError(
    `${path} does not hold a key. Restore it from your backup; or remove it, and enter the stored secrets again.`,
  );
}

/** Written beside its place and linked into it whole: whoever comes second finds the first one's. */
async function makeKey(path: string): Promise<Buffer> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}-${randomBytes(6).toString("hex")}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(`${randomBytes(masterKeyBytes).toString("hex")}\n`);
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
