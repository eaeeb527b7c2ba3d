// A process that checks a range of mutants: a crash or an endless loop ends it alone, and its last number tells which.
import { openSync, writeSync } from "node:fs";
import { checkRange, type Range } from "./range.ts";

const { progressFile, ...range } = JSON.parse(process.argv[2]!) as Range & { progressFile: string };
const file = openSync(progressFile, "w");
const number = Buffer.alloc(8);

const report = await checkRange(range, at => {
  number.writeDoubleLE(at);
  writeSync(file, number, 0, 8, 0);
});
process.stdout.write(`${JSON.stringify({ ...report, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
