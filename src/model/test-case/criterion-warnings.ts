// What the wording of a judge's criteria may keep them from telling; it is read as English, and is advice.

/** Of one criterion, each a sentence; `negate`: what is asked for must not be so. */
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

// A second sentence, a list of points, or a second thing that the reply does. "salt and pepper" is one thing.
const sentenceEnd = /[.!?]["'”’)\]]?\s+["'“‘(]?\p{Lu}|;\s+\S|\n\s*\S/u;
const secondVerb =
  /\b(?:and|but|or)\s+(?:(?:it|the (?:reply|answer|agent|assistant))\s+)?(?:also|then|never|(?:does|do|must|should|is|are) not|does|do|must|should|is|has|says?|names?|asks?|gives?|offers?|tells?|mentions?|explains?|contains?|states?|includes?|provides?|confirms?|links?|promises|apologi[sz]es|when|how|why|where|whether)\b/i;

function asksSeveralThings(criterion: string): boolean {
  return sentenceEnd.test(criterion.trim()) || secondVerb.test(criterion);
}

const negation = /\b(?:not|never|no|nothing|nobody|none|neither|without|avoids?|refrains?)\b|n[’']t\b/i;

function isNegation(criterion: string): boolean {
  return negation.test(criterion);
}
