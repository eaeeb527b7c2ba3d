// Folders that cannot be created are reported with the folder that is in the way.
import assert from "node:assert/strict";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { openFolder } from "../../src/embedded/folder.ts";
import { faultOf, makeFolders } from "../../src/embedded/make-folders.ts";
import { makeScratch } from "../support/scratch.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

test("a folder is created with its parents, and one that exists stays as it is", () => {
  const path = join(scratch, "a", "b", "c");
  assert.equal(makeFolders(path, 0o700), join(scratch, "a"));
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(makeFolders(path), undefined);
});

test("a file that is in the way is named", () => {
  const file = join(scratch, "file");
  writeFileSync(file, "");
  assert.throws(() => makeFolders(file), { message: `${file} is not a folder` });
  assert.throws(() => makeFolders(join(file, "a", "b")), { message: `${file} is not a folder` });
});

test("a data folder under /proc is refused with what to do, at once", {
  skip: process.platform !== "linux" && "there is no /proc",
}, () => {
  assert.throws(() => openFolder("/proc/onlooker/data"), {
    message:
      "The data folder /proc/onlooker/data cannot be created or written: nothing can be created in /proc. Set SVC_DATA_DIR to a folder that this user owns.",
  });
});

test("a read-only file system and a missing permission are told apart", () => {
  const faultWith = (code: string) => faultOf(Object.assign(new Error(code), { code }), "/mnt");
  assert.equal(faultWith("EROFS"), "/mnt is on a read-only file system");
  assert.equal(faultWith("EACCES"), "this user may not create anything in /mnt");
  assert.equal(faultWith("ENOSPC"), "ENOSPC");
});
