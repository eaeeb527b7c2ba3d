// Files in the tar format (ustar), written and read as a stream: plain files with names of up to 100 characters.

/** A tar stream is made of blocks of this size. */
const blockBytes = 512;

export type Member = { name: string; content: Buffer };

/** The header and the content, padded. `at`: the time of the file. */
export function tarMember({ name, content }: Member, at: Date): Buffer {
  const header = Buffer.alloc(blockBytes);
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for tar: ${name}`);
  header.write(name, 0);
  header.write("0000600\0", 100); // mode
  header.write("0000000\0", 108); // user
  header.write("0000000\0", 116); // group
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write(
    `${Math.floor(at.getTime() / 1000)
      .toString(8)
      .padStart(11, "0")}\0`,
    136,
  );
  header.write("        ", 148); // the checksum is computed with spaces in its place
  header.write("0", 156); // a plain file
  header.write("ustar\u000000", 257);
  header.write(`${checksum(header).toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc(padding(content.length))]);
}

/** What follows the last member. */
export const tarEnd = Buffer.alloc(2 * blockBytes);

/**
 * The members in order, each held in memory as a whole. Throws if the stream is no tar file, ends early, continues after its end,
 * or has anything but plain files of at most `bytesMax` each.
 */
export async function* readTar(stream: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Member> {
  const reader = blocksOf(stream);
  for (;;) {
    const header = await reader.take(blockBytes);
    if (isEmpty(header)) return reader.rest();
    const expected = Number.parseInt(textAt(header, 148, 8), 8);
    header.fill(" ", 148, 156);
    if (checksum(header) !== expected) throw new Error("the archive is damaged");
    const name = textAt(header, 0, 100);
    const octal = textAt(header, 124, 12);
    if (textAt(header, 156, 1) !== "0" || !/^[0-7]+$/.test(octal))
      throw new Error(`${name} is no plain file`);
    const size = Number.parseInt(octal, 8);
    if (size > bytesMax) throw new Error(`${name} has more than ${bytesMax} bytes`);
    const content = await reader.take(size);
    await reader.take(padding(size));
    yield { name, content };
  }
}

function checksum(header: Buffer): number {
  return header.reduce((sum, byte) => sum + byte, 0);
}

function isEmpty(bytes: Buffer): boolean {
  return bytes.every(byte => byte === 0);
}

function padding(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

function textAt(header: Buffer, from: number, length: number): string {
  return header.toString("utf8", from, from + length).split("\0", 1)[0]!;
}

function blocksOf(stream: AsyncIterable<Buffer>) {
  const source = stream[Symbol.asyncIterator]();
  let pending: Buffer[] = [];
  let bytes = 0;
  return {
    /** A copy of the next bytes. Throws if there are fewer. */
    async take(count: number): Promise<Buffer> {
      while (bytes < count) {
        const { value, done } = await source.next();
        if (done) throw new Error("the archive is cut off");
        pending.push(value);
        bytes += value.length;
      }
      const all = Buffer.concat(pending);
      pending = [all.subarray(count)];
      bytes = all.length - count;
      return Buffer.from(all.subarray(0, count));
    },
    /** Reads to the end, where decompression checks the whole. Throws if there is more than padding. */
    async rest(): Promise<void> {
      for (let left: Buffer[] | undefined = pending; left; ) {
        if (!left.every(isEmpty)) throw new Error("it continues after its end");
        const { value, done } = await source.next();
        left = done ? undefined : [value];
      }
    },
  };
}
