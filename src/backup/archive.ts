// The file of a backup: a compressed tar with a checksum of every member, which is complete or not there.
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { link, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { type Member, readTar, tarEnd, tarMember } from "../wire/tar.ts";

/** The file is damaged, cut off or none of ours, or cannot be written. The message is for the operator. */
export class ArchiveError extends Error {
  override name = "ArchiveError";
}

/** Behind the others: a line `<SHA-256>  <name>` for each of them, as sha256sum writes it. */
const sumsName = "SHA256SUMS";
/** The last one, where there is a key: the HMAC of the sums. */
const signatureName = "SHA256SUMS.hmac";

/** More than a row of a table takes, in COPY's format. */
const memberBytesMax = 256 << 20;
/** What a backup expands to, at most: the rows of all tables compress to a tenth at best. */
const expansionMax = 1_000;
/** A small file may expand to this whatever its size. */
const expandedBytesMin = 64 << 20;

/** Something in the file is not as `svc backup` writes it. */
export function foreign(file: string, what: string): ArchiveError {
  return new ArchiveError(
    `${file} is not as svc backup writes it: ${what}. Nothing of it was used; restore a file that svc backup wrote.`,
  );
}

export type ArchiveWriter = {
  /** Compressed so far. */
  bytes(): number;
  add(member: Member): Promise<void>;
  /** Checks what was written by reading it again, and gives the file its name. `sign`: of the sums; absent: unsigned. */
  finish(sign?: (sums: Buffer) => string): Promise<void>;
  /** Removes what was written, unless it is finished. */
  discard(): Promise<void>;
};

/**
 * Writes to a draft beside the file, readable by its owner alone. Throws ArchiveError if the file exists or the folder
 * cannot be written to.
 */
export async function writeArchive(file: string, at: Date): Promise<ArchiveWriter> {
  await refuseExisting(file);
  // Not the process ID: containers that share a folder may have the same one.
  const draft = join(dirname(file), `.${basename(file)}.partial-${randomUUID()}`);
  const handle = await open(draft, "wx", 0o600).catch(error => {
    if (error.code === "ENOENT")
      throw new ArchiveError(`The folder ${dirname(file)} does not exist. Create it, or choose another.`);
    throw new ArchiveError(`The backup cannot be written: ${(error as Error).message}.`);
  });
  const output = handle.createWriteStream();
  const compressor = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  compressor.pipe(output);
  let failure: Error | undefined;
  output.on("error", error => {
    failure ??= new ArchiveError(`The backup cannot be written: ${error.message}.`);
    compressor.destroy(failure);
  });
  compressor.on("error", error => {
    failure ??= error;
  });
  const write = async (bytes: Buffer) => {
    if (failure) throw failure;
    if (!compressor.write(bytes)) await untilDrained(compressor);
    if (failure) throw failure;
  };
  const sums: string[] = [];
  return {
    bytes: () => output.bytesWritten,
    async add(member) {
      sums.push(`${sumOf(member.content)}  ${member.name}\n`);
      await write(tarMember(member, at));
    },
    async finish(sign) {
      const content = Buffer.from(sums.join(""));
      await write(tarMember({ name: sumsName, content }, at));
      if (sign)
        await write(tarMember({ name: signatureName, content: Buffer.from(`${sign(content)}\n`) }, at));
      await write(tarEnd);
      compressor.end();
      await finished(output).catch(error => {
        throw failure ?? error;
      });
      await syncPath(draft);
      for await (const _ of readArchive(draft));
      await link(draft, file).catch(error => {
        throw error.code === "EEXIST" ? alreadyThere(file) : error;
      });
      await rm(draft);
      await syncPath(dirname(file));
    },
    async discard() {
      compressor.destroy();
      output.destroy();
      await rm(draft, { force: true });
    },
  };
}

/** Resolves when more can be written, or the stream was destroyed. */
async function untilDrained(stream: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(stream, "drain", { signal }), once(stream, "close", { signal })]).finally(() =>
    over.abort(),
  );
}

async function refuseExisting(file: string): Promise<void> {
  const handle = await open(file, "r").catch(error => {
    if (error.code !== "ENOENT") throw new ArchiveError(`The backup cannot be written: ${error.message}.`);
  });
  if (handle === undefined) return;
  await handle.close();
  throw alreadyThere(file);
}

function alreadyThere(file: string): ArchiveError {
  return new ArchiveError(`${file} exists already. Choose another name: a backup never overwrites a file.`);
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}

/** What follows the members. */
export type Ending = { sums: Buffer; signature: string | undefined };

/**
 * The members in order. Reads to the end and compares every checksum, so what it yields is known to be whole only when it
 * ends. Throws ArchiveError if the file is damaged, cut off, no backup, or expands to too much.
 */
export async function* readArchive(file: string): AsyncGenerator<Member, Ending> {
  const read: string[] = [];
  let sums: Buffer | undefined;
  let signature: string | undefined;
  try {
    for await (const member of readTar(expanded(file), memberBytesMax)) {
      if (sums === undefined && member.name === sumsName) sums = member.content;
      else if (sums === undefined) {
        read.push(`${sumOf(member.content)}  ${member.name}\n`);
        yield member;
      } else if (signature === undefined && member.name === signatureName)
        signature = member.content.toString().trim();
      else throw new Error("it continues after its end");
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new ArchiveError(`${file} does not exist. Check the path.`);
    if (code === "EISDIR") throw new ArchiveError(`${file} is a folder. Pass the file of a backup.`);
    throw new ArchiveError(`${file} is no whole backup: ${(error as Error).message}.`);
  }
  if (sums?.toString() === read.join("")) return { sums, signature };
  throw new ArchiveError(`${file} is damaged: its checksums are not those of its content.`);
}

/** Without end, a small file of nothing but zeros would keep a restore busy, and fill its disk. */
async function* expanded(file: string): AsyncGenerator<Buffer> {
  const { size } = await stat(file);
  const input = createReadStream(file);
  const plain = createZstdDecompress();
  input.on("error", error => plain.destroy(error));
  input.pipe(plain);
  let bytes = 0;
  for await (const chunk of plain as Readable) {
    bytes += chunk.length;
    if (bytes > Math.max(expandedBytesMin, expansionMax * size))
      throw new Error(`it expands to more than ${expansionMax} times its size, as no backup does`);
    yield chunk;
  }
}

function sumOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
