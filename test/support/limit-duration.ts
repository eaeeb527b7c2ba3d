// Loaded before each test file: ends its process when it takes too long, as node:test bounds tests but not their files, and
// when something is left open after its last test, such as a server that a failed test did not close.
import { after } from "node:test";

const minutes = Number(process.env.SVC_TEST_FILE_MINUTES);
/** From the first hook behind the last test: the others close what the file has opened. */
const closingMs = 60_000;

function endIn(ms: number, fault: string): void {
  setTimeout(() => {
    console.error(`${fault} Still open: ${process.getActiveResourcesInfo()}`);
    process.exit(1);
  }, ms).unref();
}

endIn(minutes * 60_000, `This file did not end within ${minutes} minutes.`);
after(() => endIn(closingMs, `This file did not end within ${closingMs / 1_000} s of its last test.`));
