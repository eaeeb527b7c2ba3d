// Finds values in JSON by an RFC 6901 pointer.

/** Undefined if there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const key of stepsOf(pointer)) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** The pointers to everything around a value, from the top on, and to itself. */
export function* pointersTo(pointer: string): Generator<string> {
  let above = "";
  yield above;
  for (const step of pointer.split("/").slice(1)) {
    above += `/${step}`;
    yield above;
  }
}

function stepsOf(pointer: string): string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map(step => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
