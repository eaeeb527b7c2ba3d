// A project's own redaction rules: validates their names, and compiles their patterns in the linear-time engine.
import type { Issue } from "../refusal.ts";
import { compilePattern, type Pattern, patternFault } from "../test-case/pattern.ts";
import { patternCost } from "../test-case/pattern-cost.ts";
import { builtInRules, pseudonymRule, uncheckedRule } from "./rules.ts";

export type OwnRule = { name: string; pattern: string; flags?: string | undefined };

export const ownRulesMax = 20;

/** In instructions, of all patterns together; a hundred take about a millisecond. */
const costMax = 50_000;

const namePattern = /^[a-z0-9_-]{1,32}$/;
const takenNames: ReadonlySet<string> = new Set([...builtInRules, pseudonymRule, uncheckedRule]);

/** What is wrong with the rules; paths begin with `rules`. Compiles nothing that costs too much. */
export function ownRuleIssues(rules: readonly OwnRule[]): Issue[] {
  if (rules.length > ownRulesMax) {
    return [{ path: "rules", message: `A project can have at most ${ownRulesMax} rules of its own.` }];
  }
  const issues: Issue[] = [];
  const seen = new Set<string>();
  let cost = 0;
  for (const [at, { name, pattern, flags = "" }] of rules.entries()) {
    const path = `rules[${at}]`;
    const nameFault = faultOfName(name, seen);
    if (nameFault) issues.push({ path: `${path}.name`, message: nameFault });
    seen.add(name);
    cost += patternCost(pattern);
    if (cost > costMax) {
      const message =
        "The patterns take too long to compile. Use smaller counts, such as {1,50}, and fewer Unicode classes.";
      return [...issues, { path: `${path}.pattern`, message }];
    }
    const fault = pattern === "" ? "A pattern must not be empty." : patternFault(pattern, flags);
    if (fault) issues.push({ path: `${path}.pattern`, message: fault });
  }
  return issues;
}

function faultOfName(name: string, seen: ReadonlySet<string>): string | null {
  if (!namePattern.test(name)) return "A name has 1 to 32 of the characters a-z, 0-9, _ and -.";
  if (takenNames.has(name)) return `“${name}” is the name of a built-in rule. Choose another name.`;
  return seen.has(name) ? `Another rule is named “${name}”. Choose another name.` : null;
}

export type CompiledRule = { name: string; pattern: Pattern };

/** Throws PatternFault. */
export function compileOwnRules(rules: readonly OwnRule[]): CompiledRule[] {
  return rules.map(({ name, pattern, flags }) => ({ name, pattern: compilePattern(pattern, flags) }));
}
