// Imports test cases from a file: parses it, validates each on the server, and creates them one by one.

import type { Failure } from "../api.ts";
import { parseTestJson } from "../exact-json.ts";
import { createTest, validateTest } from "../mutations/tests.ts";
import { messageOf } from "./test-changes.ts";

/** A test case of the file that is invalid or could not be created. `position` counts from 1. */
export type ImportFault = { position: number; title: string; messages: string[] };

const documentsMax = 1000;
const checkedAtOnce = 4;

export function readDocuments(
  text: string,
): { ok: true; documents: unknown[] } | { ok: false; fault: string } {
  let read: unknown;
  try {
    read = parseTestJson(text);
  } catch (error) {
    return { ok: false, fault: `This file is not JSON. ${error instanceof Error ? error.message : ""}` };
  }
  const documents = Array.isArray(read) ? read : [read];
  if (documents.length === 0) return { ok: false, fault: "This file contains an empty list." };
  if (documents.length > documentsMax) {
    return {
      ok: false,
      fault: `This file contains ${documents.length} test cases. The limit is ${documentsMax}.`,
    };
  }
  return { ok: true, documents };
}

/** The test cases that the server rejects, in the order of the file. */
export async function checkDocuments(
  agentId: string,
  documents: unknown[],
  onChecked: (done: number) => void,
): Promise<ImportFault[]> {
  const faults: ImportFault[] = [];
  const waiting = [...documents.entries()];
  let done = 0;
  onChecked(0);
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, document] = next;
      const answer = await validateTest(agentId, document);
      if (!answer.ok) faults.push(faultOf(index, document, answer.failure));
      onChecked(++done);
    }
  };
  await Promise.all(Array.from({ length: checkedAtOnce }, work));
  return faults.sort((one, other) => one.position - other.position);
}

/** Creates the last one first, so that the list, newest first, has the file's order. Stops at the first error. */
export async function createTests(
  agentId: string,
  documents: unknown[],
  onCreated: (done: number) => void,
): Promise<{ created: number; left: unknown[]; fault?: ImportFault }> {
  const left = [...documents];
  for (let document = left.at(-1); left.length > 0; document = left.at(-1)) {
    const answer = await createTest(agentId, document);
    if (!answer.ok) {
      return {
        created: documents.length - left.length,
        left,
        fault: faultOf(left.length - 1, document, answer.failure),
      };
    }
    left.pop();
    onCreated(documents.length - left.length);
  }
  return { created: documents.length, left };
}

/** The test case's name, or a stand-in. */
export function titleOf(document: unknown): string {
  const name = typeof document === "object" && document !== null && "name" in document ? document.name : null;
  return typeof name === "string" && /\S/.test(name) ? name : "(no name)";
}

function faultOf(index: number, document: unknown, failure: Failure): ImportFault {
  const issues = (failure.issues ?? []).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const messages = issues.length > 0 ? issues : [messageOf(failure)];
  return { position: index + 1, title: titleOf(document), messages };
}
