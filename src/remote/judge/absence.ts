// Whether a criterion is met by what a reply does not say: then there may be nothing to quote.

/**
 * By its words, in the languages that criteria are likely to be written in. A criterion taken for one of absence may
 * be met without a quotation, so words that deny something in passing count and vaguer ones ("only", "short") do not.
 */
export function isAboutAbsence(criterion: string): boolean {
  const text = criterion.normalize("NFC").toLowerCase().replaceAll("’", "'");
  return words.test(text) || parts.test(text);
}

// English, German, Dutch, Scandinavian, French, Spanish, Portuguese, Italian, Polish, Czech, Russian, Turkish.
const denials = [
  "no|not|never|none|nothing|nobody|neither|nor|cannot|without|free (?:of|from)|lacks?|omits?|leaves out|avoids?",
  "avoiding|refrains?|abstains?|absent|excludes?|(?:is|are|was|were|do|does|did|ca|wo|would|should|must|has|have)n't",
  "nicht|nichts|kein(?:e[mnrs]?)?|nie|niemals|niemand|ohne|vermeide[tn]?|verzichtet|unterlässt|frei von",
  "niet|niets|geen|nooit|niemand|zonder|vermijdt|inte|inga|inget|ingen|aldrig|utan|undviker|ikke|uten|uden|aldri",
  "ne|n'|pas|jamais|aucune?|rien|sans|évite|s'abstient|sin|nunca|jamás|ning[uú]n[ao]?|nada|nadie|evita",
  "não|nenhuma?|nunca|jamais|sem|non|nessun[ao]?|niente|nulla|senza|evita",
  "nie|bez|żadn(?:ych|ego|ej|a|e)|nigdy|nic|unika|ne|není|nikdy|žádn(?:ý|á|é)|vyhýbá",
  "не|нет|ни|никогда|ничего|никаких|без|избегает|değil|yok|hiçbir|asla|olmadan",
];
const words = new RegExp(`(?<![\\p{L}\\p{N}])(?:${denials.join("|")})(?![\\p{L}\\p{N}])`, "u");

// Scripts that do not part their words, and prefixes.
const parts =
  /[不没沒無无未]|避免|ない|ません|なし|せず|避け|않|없|(?<!\p{L})(?:안|못) |(?<!\p{L})(?:لا|لم|لن|ليس|بدون)(?!\p{L})|नहीं|बिना|ไม่|ปราศจาก|(?<!\p{L})(?:không|chưa)(?!\p{L})/u;
