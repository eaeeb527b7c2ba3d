// The members of a backup, read and written again with their sums, as an attacker would.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Member, readTar, tarEnd, tarMember } from "../../src/wire/tar.ts";

const own = ["SHA256SUMS", "SHA256SUMS.hmac"];

/** Without the sums and their signature. */
export async function membersOf(path: string): Promise<Member[]> {
  const members: Member[] = [];
  const tar = Readable.from([zstdDecompressSync(readFileSync(path))]);
  for await (const member of readTar(tar, 2 ** 30)) if (!own.includes(member.name)) members.push(member);
  return members;
}

/** `signature`: of the sums; absent: none. */
export function writeMembers(path: string, members: Member[], signature?: string): void {
  const sums = members.map(one => `${createHash("sha256").update(one.content).digest("hex")}  ${one.name}\n`);
  const all = [...members, { name: "SHA256SUMS", content: Buffer.from(sums.join("")) }];
  if (signature) all.push({ name: "SHA256SUMS.hmac", content: Buffer.from(signature) });
  writeTar(path, [...all.map(one => tarMember(one, new Date())), tarEnd]);
}

export function writeTar(path: string, blocks: Buffer[]): void {
  writeFileSync(path, zstdCompressSync(Buffer.concat(blocks)));
}
