// Warns about the wording of criteria that a judge answers unreliably. English only, and advice only.

/** Warnings about one criterion, each a sentence; `negate`: the check passes if the criterion is not met. */
export function wordingWarnings(criterion: string, negate: boolean): string[] {
  return [
    ...(asksSeveralThings(criterion)
      ? ["This seems to ask for more than one thing. One criterion for each is judged more reliably."]
      : []),
    ...(negate && isNegation(criterion)
      ? ["Both the criterion and the rule say “not”, so together they ask for what the criterion forbids."]
      : []),
  ];
}

// A second sentence, a list, or a second action of the reply. "salt and pepper" is one thing.
const sentenceEnd = /[.!?]["'”’)\]]?\s+["'“‘(]?\p{Lu}|;\s|\n/u;
const secondVerb =
  /\b(?:and|but|or)\s+(?:(?:it|the (?:reply|answer|agent|assistant))\s+)?(?:also|then|never|(?:does|do|must|should|is|are) not|does|do|must|should|is|has|says?|names?|asks?|gives?|offers?|tells?|mentions?|explains?|contains?|states?|includes?|provides?|confirms?|links?|promises|apologi[sz]es|when|how|why|where|whether)\b/i;

function asksSeveralThings(criterion: string): boolean {
  return sentenceEnd.test(criterion.trim()) || secondVerb.test(criterion);
}

const negation = /\b(?:not|never|no|nothing|nobody|none|neither|without|avoids?|refrains?)\b|n[’']t\b/i;

function isNegation(criterion: string): boolean {
  return negation.test(criterion);
}
