// Test cases of a file: read, checked by the server, and made one after the other.

import type { Failure } from "../api.ts";
import { createTest, validateTest } from "../mutations/tests.ts";
import { messageOf } from "./test-changes.ts";

/** What is not valid, or was not made. `position` counts from 1. */
export type Unmade = { position: number; title: string; messages: string[] };

const documentsMax = 1000;
const checkedAtOnce = 4;

export function readDocuments(
  text: string,
): { ok: true; documents: unknown[] } | { ok: false; fault: string } {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return { ok: false, fault: `This file is not JSON. ${error instanceof Error ? error.message : ""}` };
  }
  const documents = Array.isArray(read) ? read : [read];
  if (documents.length === 0) return { ok: false, fault: "This file holds an empty list." };
  if (documents.length > documentsMax) {
    return {
      ok: false,
      fault: `This file holds ${documents.length} test cases; ${documentsMax} is the most.`,
    };
  }
  return { ok: true, documents };
}

/** What the server does not accept, in the order of the file. */
export async function checkDocuments(
  agentId: string,
  documents: unknown[],
  onChecked: (done: number) => void,
): Promise<Unmade[]> {
  const faults: Unmade[] = [];
  const waiting = [...documents.entries()];
  let done = 0;
  onChecked(0);
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, document] = next;
      const answer = await validateTest(agentId, document);
      if (!answer.ok) faults.push(unmade(index, document, answer.failure));
      onChecked(++done);
    }
  };
  await Promise.all(Array.from({ length: checkedAtOnce }, work));
  return faults.sort((one, other) => one.position - other.position);
}

/** From the last to the first: the list, newest first, then has the file's order. Stops at the first that fails. */
export async function makeTests(
  agentId: string,
  documents: unknown[],
  onMade: (done: number) => void,
): Promise<{ made: number; left: unknown[]; fault?: Unmade }> {
  const left = [...documents];
  for (let document = left.at(-1); left.length > 0; document = left.at(-1)) {
    const answer = await createTest(agentId, document);
    if (!answer.ok) {
      return {
        made: documents.length - left.length,
        left,
        fault: unmade(left.length - 1, document, answer.failure),
      };
    }
    left.pop();
    onMade(documents.length - left.length);
  }
  return { made: documents.length, left };
}

/** Its name, where it has one. */
export function titleOf(document: unknown): string {
  const name = typeof document === "object" && document !== null && "name" in document ? document.name : null;
  return typeof name === "string" && /\S/.test(name) ? name : "(without a name)";
}

function unmade(index: number, document: unknown, failure: Failure): Unmade {
  const issues = (failure.issues ?? []).map(({ path, message }) => (path ? `${path}: ${message}` : message));
  const messages = issues.length > 0 ? issues : [messageOf(failure)];
  return { position: index + 1, title: titleOf(document), messages };
}
