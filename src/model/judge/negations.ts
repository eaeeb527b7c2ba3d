// Words that turn a passage around, in the languages that we know: a quotation must not leave them out.

const negations = new Set(
  [
    "✗ not no never without neither nor none nothing nobody",
    "nicht kein keine keinen keinem keiner keines nie niemals ohne",
    "ne pas jamais sans aucun aucune nunca sin ningún ninguna não nenhum nenhuma non senza nessun nessuna",
    "niet geen nooit zonder inte ej ikke aldrig aldri uden uten ingen inga",
    "nie bez nigdy nikdy не нет ни никогда без ні değil yok asla",
    "لا لن لم ليس بدون नहीं मत",
  ]
    .join(" ")
    .split(" "),
);

/** Whether any of these words is one. `text`: what they are from, which tells the language. */
export function negates(words: string, text: string): boolean {
  return (
    words.split(/[ \n]/).some(word => isNegation(word, text)) || /[不没沒勿]|ない|なかった|ません/.test(words)
  );
}

/** In the text as quotations see it: of the word right before, in the same clause. */
export function isNegatedBefore(shown: string, at: number): boolean {
  if (/[不没沒勿]/.test(shown.charAt(at - 1))) return true;
  return (
    shown.charAt(at - 1) === " " &&
    isNegation(
      shown
        .slice(Math.max(0, at - 40), at - 1)
        .split(/\s/)
        .at(-1)!,
      shown,
    )
  );
}

export function isNegatedAfter(shown: string, end: number): boolean {
  const after = shown.slice(end, end + 40);
  if (/^(?:ない|なかった|ません|지 (?:않|못))/.test(after)) return true;
  return after.startsWith(" ") && isNegation(/^\S*/.exec(after.slice(1))![0], shown);
}

// In Portuguese, "no" is "in the".
function isNegation(word: string, text: string): boolean {
  return (
    negations.has(word) && (word !== "no" || !/ção|ções|(?<!\p{L})(?:não|você|uma)(?!\p{L})/u.test(text))
  );
}
