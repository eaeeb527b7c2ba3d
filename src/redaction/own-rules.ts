// A project's own redaction rules: validates their names, and compiles their patterns in the linear-time engine.
import { builtInRules, type OwnRule, ownRulesMax, pseudonymRule, uncheckedRule } from "../model/redaction.ts";
import type { Issue } from "../model/refusal.ts";
import { compilePattern, type Pattern, patternFault } from "../model/test-case/pattern.ts";
import { patternCost } from "../model/test-case/pattern-cost.ts";
import type { Found } from "./found.ts";
import { compilePatternSet, type PatternSet } from "./pattern-set.ts";
import type { Text } from "./units.ts";
import type { Work } from "./work.ts";

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

/** Instructions of a pattern that is asked alone, and of all that are asked together, that cost as much as one built-in rule. */
const [instructionsPerUnit, togetherPerUnit] = [16, 256];

/** In units of work: reading a character in a search for all places, and the instructions that cost one more. */
const stepUnits = 8;
const instructionsPerStepUnit = 4;

/** A project's own rules, compiled. */
export class OwnRules {
  readonly names: readonly string[];
  /** Of work, for each character of a text: asking whether any rule occurs. */
  readonly units: number;
  readonly #unitsAlone: number;
  readonly #patterns: readonly Pattern[];
  readonly #set: PatternSet | null;

  /** Throws PatternFault. */
  constructor(rules: readonly OwnRule[]) {
    this.names = rules.map(({ name }) => name);
    this.#patterns = rules.map(({ pattern, flags }) => compilePattern(pattern, flags));
    const size = this.#patterns.reduce((sum, pattern) => sum + pattern.size, 0);
    this.#unitsAlone = this.#patterns.length + Math.ceil(size / instructionsPerUnit);
    this.#set = compilePatternSet(
      rules.map(({ pattern, flags = "" }, at) => ({
        source: pattern,
        flags,
        size: this.#patterns[at]!.size,
      })),
    );
    this.units = this.#set ? 2 + Math.ceil(size / togetherPerUnit) : this.#unitsAlone;
  }

  /**
   * Adds what the rules find, with `rank` and up as their ranks; false if the work does not suffice. All rules together are
   * first asked whether they occur at all; only those that do are searched for.
   */
  find(read: Text, rank: number, found: Found[], work: Work): boolean {
    if (this.#patterns.length === 0) return true;
    const occurring = this.#set?.occurring(read);
    const text = read.string;
    if (occurring) return occurring.every(at => this.#findAll(at, text, rank, found, work));
    if (this.#set && !work.spend(text.length * this.#unitsAlone)) return false;
    return this.#patterns.every(
      (pattern, at) => pattern.occursAtOnce(text) === false || this.#findAll(at, text, rank, found, work),
    );
  }

  #findAll(at: number, text: string, rank: number, found: Found[], work: Work): boolean {
    const pattern = this.#patterns[at]!;
    const units = stepUnits + Math.ceil(pattern.size / instructionsPerStepUnit);
    const all = pattern.findAll(text, Math.floor(work.left / units), work.deadline);
    if (all === null) {
      work.spend(work.left);
      return false;
    }
    work.spend(all.steps * units);
    for (const { start, end } of all.places) found.push({ start, end, rule: rank + at });
    return true;
  }
}
