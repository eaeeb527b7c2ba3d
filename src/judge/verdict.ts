// The verdict on one criterion: what the judge said of each part of the reply, as far as its quotations support it.

import type { CriterionClass, GivenVerdict, RestsOn } from "../model/judge/call.ts";
import type { CriterionVerdict } from "../model/judge/judge.ts";
import type { Quote } from "../model/judge/material.ts";
import type { JudgeReason } from "../model/judge/reason.ts";
import { reasonText } from "../model/run/reason-text.ts";

/** Whether the verdict depends on what the criterion rests on. */
export function isOpenWithoutClass(given: GivenVerdict[]): boolean {
  const applicable = applicableOf(given);
  return (
    new Set(applicable.map(({ verdict }) => verdict)).size > 1 ||
    applicable.some(({ verdict, quotation }) => isFavorable(verdict) && isWithoutQuotation(quotation))
  );
}

/** What is known of a criterion without asking the judge. `restsOn`: what its author says. */
export function writtenClass(criterion: string, restsOn: RestsOn | null = null): CriterionClass {
  return { restsOn, conditional: /^(?:if|unless|whenever|in case)\s/i.test(criterion.trim()) };
}

/** Whether the verdict depends on what only the judge can say of the criterion. */
export function needsClass(given: GivenVerdict[], { restsOn, conditional }: CriterionClass): boolean {
  return (!conditional && given.some(isInapplicable)) || (restsOn === null && isOpenWithoutClass(given));
}

/** `written` goes before the judge's class. */
export function classedVerdictOf(
  given: GivenVerdict[],
  written: CriterionClass,
  judged: CriterionClass,
  options?: VerdictOptions,
): CriterionVerdict {
  const isConditional = written.conditional || judged.conditional;
  return verdictOf(
    isConditional ? given : withoutCondition(given),
    written.restsOn ?? judged.restsOn,
    options,
  );
}

/** A criterion that states no condition applies to every reply, so whether it is met is undecided. */
function withoutCondition(given: GivenVerdict[]): GivenVerdict[] {
  const reason = reasonText({ code: "judge_not_conditional" });
  return given.map(part =>
    isInapplicable(part)
      ? { ...part, verdict: "cannot_tell", evidence: "", quotation: "empty", comparison: "empty", reason }
      : part,
  );
}

function isInapplicable({ verdict }: Pick<GivenVerdict, "verdict">): boolean {
  return verdict === "not_applicable";
}

/** `redacted`: the privacy rules that changed the reply. */
type VerdictOptions = { quotesOf: (part: GivenVerdict) => Quote[]; redacted: string[] };

/**
 * Of a reply in parts, one part suffices if the criterion rests on a passage; otherwise, and if `restsOn` is not known
 * (null), every part must hold. Parts to which the criterion does not apply are left out if it applies to others.
 */
export function verdictOf(
  given: GivenVerdict[],
  restsOn: RestsOn | null,
  options: VerdictOptions = { quotesOf: () => [], redacted: [] },
): CriterionVerdict {
  const parts = given.map((part, at) => {
    const verdict = supported(part, restsOn, options);
    const reason = given.length > 1 ? `Part ${at + 1} of ${given.length}: ${verdict.reason}` : verdict.reason;
    return { ...verdict, reason };
  });
  const order = restsOn === "passage" ? bestFirst : worstFirst;
  const deciding = applicableOf(parts).toSorted(
    (a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict),
  )[0]!;
  return restsOn && isOpenWithoutClass(given) ? { ...deciding, restsOn } : deciding;
}

// An undecided part may be met or not, so only a part that is at the end of the scale outweighs it.
const bestFirst = ["met", "cannot_tell", "mostly", "partly", "not_met", "not_applicable"];
const worstFirst = ["not_met", "cannot_tell", "partly", "mostly", "met", "not_applicable"];

function applicableOf<V extends Pick<CriterionVerdict, "verdict">>(verdicts: V[]): V[] {
  const applicable = verdicts.filter(verdict => !isInapplicable(verdict));
  return applicable.length > 0 ? applicable : verdicts;
}

/**
 * A verdict with a quotation that is nowhere in what was shown, or a favorable one that needs a quotation of the agent and
 * has none, is undecided. So is one without a quotation on a reply that was redacted: what was not found may be what was
 * taken out.
 */
function supported(
  given: GivenVerdict,
  restsOn: RestsOn | null,
  { quotesOf, redacted }: VerdictOptions,
): CriterionVerdict {
  const { verdict, evidence, reason } = given;
  const fault = faultOf(given, restsOn);
  if (fault) return { verdict: "cannot_tell", evidence: "", reason: reasonText(fault) };
  const isDecided = !isInapplicable(given) && verdict !== "cannot_tell";
  if (redacted.length > 0 && isDecided && isWithoutQuotation(given.quotation)) {
    const why = reasonText({ code: "redacted", data: { rules: redacted } });
    return { verdict: "cannot_tell", evidence: "", reason: why, redacted };
  }
  const quotes = quotesOf(given);
  return { verdict, evidence, reason, ...(quotes.length > 0 ? { quotes } : {}) };
}

function faultOf(
  { verdict, quotation, comparison }: GivenVerdict,
  restsOn: RestsOn | null,
): JudgeReason | undefined {
  if (quotation === "invented") return { code: "judge_quote_not_found" };
  if (comparison === "invented") return { code: "judge_comparison_not_found" };
  if (!isFavorable(verdict) || quotation === "found") return undefined;
  if (quotation === "elsewhere") return { code: "judge_quote_not_found" };
  if (restsOn === "absence") return undefined;
  return { code: quotation === "empty" ? "judge_quote_missing" : "judge_quote_trivial" };
}

export function isFavorable(verdict: GivenVerdict["verdict"]): boolean {
  return verdict === "met" || verdict === "mostly";
}

function isWithoutQuotation(quotation: GivenVerdict["quotation"]): boolean {
  return quotation === "empty" || quotation === "trivial";
}
