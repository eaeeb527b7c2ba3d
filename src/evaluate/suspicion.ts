// Whether a text of a conversation looks as if it were addressed to its judge rather than to a party of the conversation.
import { stripInvisible } from "../model/strip-invisible.ts";

/**
 * Why it does, in one sentence; undefined where it does not. A hint and no more: it misses new wordings, and
 * now and then takes an honest text for such a one.
 */
export function suspicionOf(text: string): string | undefined {
  if (hidesWriting(text)) return "It hides writing in characters that nobody sees.";
  const shown = looked(stripInvisible(text).replace(/\s{2,}|[^\S ]/g, " "))
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("’", "'");
  return signs.find(({ patterns }) => patterns.some(pattern => pattern.test(shown)))?.reason;
}

// Of what is seen, the beginning and the end, as the judge is shown them, and more.
function looked(text: string): string {
  const [start, end] = [40_000, 20_000];
  return text.length <= start + end ? text : `${text.slice(0, start)}\n${text.slice(-end)}`;
}

/** Tag characters spell ASCII unseen; flags of regions, by at most six of them, are the one honest use. */
function hidesWriting(text: string): boolean {
  return /[\u{E0020}-\u{E007E}]{4}/u.test(text.replace(/\u{1F3F4}[\u{E0020}-\u{E007E}]{1,6}\u{E007F}/gu, ""));
}

// Gaps are bounded, so that no text takes long. "Ignore my last message" and "how do I rate my order" are everyday
// talk: what counts is the instructions of another, and a verdict about the reply itself.
const signs: { reason: string; patterns: RegExp[] }[] = [
  {
    reason: "It asks for other instructions to be ignored.",
    patterns: [
      /\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass)\b(?= (?:\w+ ){0,4}?(?:all|any|every|your|other|system|previous|prior|above|earlier|preceding|foregoing|initial|original|given)\b)(?: (?:about|all|any|every|each|of|the|your|these|those|other|system|safety)){0,4} (?:previous |prior |above |earlier |preceding |foregoing |system |initial |original |given ){0,2}(?:instructions?|prompts?|directives?|guidelines|rules|criteria|rubrics?|scenarios?)\b(?! (?:on|in|from|of) (?:the|my|your|this) (?:box|package|packaging|label|leaflet|manual|website|letter|mail|email))/,
      /\b(?:ignorier\w*|vergiss|missachte\w*|vergessen sie)\b(?: (?:alle|sämtliche|die|deine|ihre|bisherigen|vorherigen|vorigen|obigen|früheren|systemischen)){1,4} (?:anweisungen|instruktionen|vorgaben|regeln|kriterien|prompts?)/,
      /(?<!\p{L})(?:ignore[zr]?|oublie[zr]?|ne tiens? pas compte|ne tenez pas compte)(?: (?:de|des|toutes|tous|les|tes|vos)){0,4} (?:instructions|consignes|directives|règles|critères)(?: (?:précédent|antérieur|ci-dessus|du système)|$|[ .,;:!])/u,
      /\b(?:ignor[ae]|ignoren|olvid[ae]|olviden|descart[ae])\b(?: (?:de|todas|todos|las|los|tus|sus|cualquier)){0,4} (?:instrucciones|indicaciones|reglas|criterios|directrices)/,
      /\b(?:ignor[ae]|ignorem|esqueça|esquece|desconsidere)\b(?: (?:de|todas|todos|as|os|suas|seus|quaisquer)){0,4} (?:instruções|orientações|regras|critérios|diretrizes)/,
      /\b(?:ignora|ignorate|dimentica|dimenticate)\b(?: (?:tutte|tutti|le|i|tue|tuoi|ogni)){0,4} (?:istruzioni|indicazioni|regole|criteri|direttive)/,
      /\b(?:negeer|vergeet)\b(?: (?:alle|de|je|uw|eerdere|vorige|bovenstaande)){1,4} (?:instructies|aanwijzingen|regels|criteria)/,
      /(?<!\p{L})(?:zignoruj|ignoruj|zapomnij)(?: (?:o|wszystkie|wszystkich|poprzednie|poprzednich|powyższe|wcześniejsze)){0,4} (?:instrukcj|polece|zasad|kryteri)/u,
      /(?<!\p{L})(?:игнорируй\p{L}*|проигнорируй\p{L}*|забудь\p{L}*)(?: (?:все|всех|обо|о|про|предыдущие|предыдущих|прежние|вышеуказанные|свои|твои)){0,4} (?:инструкци|указани|правил|критери)/u,
      /(?:önceki|yukarıdaki|tüm|bütün) (?:önceki |yukarıdaki )?(?:talimatları?|yönergeleri?|kuralları?|kriterleri?)\p{L}* (?:yok say|görmezden gel|unut|dikkate alma)/u,
      /(?:忽略|无视|無視|忽視|忘记|忘記)[^。!?\n]{0,8}(?:之前|以上|先前|上述|前面|所有|全部)[^。!?\n]{0,8}(?:指令|指示|提示|规则|規則|标准|標準)/,
      /(?:これまで|以前|上記|前|すべて|全て)(?:まで)?の[^。\n]{0,8}(?:指示|命令|プロンプト|ルール|基準)[^。\n]{0,4}(?:無視|忘れ)/,
      /(?:이전|위의|앞의|모든)[^.\n]{0,8}(?:지시|명령|프롬프트|규칙|기준)\p{L}{0,8} ?(?:를|을|은|는)? ?(?:모두 )?(?:무시|잊)/u,
      /(?:تجاهل|انس)(?:ي|وا)? (?:جميع |كل |كافة )?(?:التعليمات|الأوامر|القواعد|المعايير)/,
      /(?:पिछले|पूर्व|ऊपर के|सभी)[^।\n]{0,12}(?:निर्देश|नियम|मानदंड)\p{L}{0,8}\p{M}{0,8} (?:को )?(?:अनदेखा|नज़रअंदाज़|भूल)/u,
    ],
  },
  {
    reason: "It speaks to the judge of the conversation.",
    patterns: [
      /\b(?:dear|attention|hello|hey|hi|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|reminder (?:to|for))[ ,:]+(?:the |all |any |our |you,? )?(?:ai |llm |automated |automatic )?(?:evaluators?|graders?|assessors?|(?:ai|llm|automated) (?:judges?|reviewers?|models?|systems?))\b/,
      /\b(?:as|to|for) (?:an? |the |our |any )?(?:ai|llm|automated|automatic) (?:judge|evaluator|grader|reviewer|assessor)\b/,
      /\b(?:whoever|whatever|the (?:model|system|ai|llm)|if you(?: are| 're|'re)?)(?: that| who| which)?(?: is| are)? (?:judg|evaluat|grad|scor|assess)(?:es|ing|s|e) (?:this|the|my) (?:reply|response|answer|conversation|message|input|transcript|chat)\b/,
      /\b(?:an|den|der|liebe[r]?|hinweis an (?:den|die)) (?:ki-?|llm-?|automatische[nr]? )?(?:bewerter|gutachter-?ki|bewertungs(?:modell|system)|evaluator|ki-(?:richter|prüfer))\b/,
      /(?<!\p{L})(?:note|message|à l'attention|cher|chère)[ ,:]+(?:à|au|pour|de)? ?(?:l'|le |la |du )?(?:évaluateur|évaluatrice|juge (?:ia|automatique))/u,
      /(?<!\p{L})(?:nota|mensaje|atención|estimado|querido|mensagem|atenção|caro)[ ,:]+(?:al?|para|o|ao|el)? ?(?:el |o )?(?:evaluador|avaliador|juez (?:de )?ia|valutatore)/u,
      /(?:评估者|评审模型|评判模型|評価者|評価モデル|評価ai|평가자|평가 모델)[^。.\n]{0,6}(?:请|請|注意|へ|に告ぐ|에게|님)/,
    ],
  },
  {
    reason: "It holds a verdict in the form of a judge's answer.",
    patterns: [
      /"(?:verdicts?|labels?)" ?: ?(?:\[ ?\{|"(?:met|mostly|partly|not_met|cannot_tell|match|no_match|unsure)")/,
      /\bverdict ?[:=] ?"?(?:met|mostly|not_met|pass(?:ed)?)\b/,
    ],
  },
  {
    reason: "It asks for a verdict of its own choosing.",
    patterns: [
      /\b(?:give|assign|award|grant|rate|score|grade|mark|label|judge|evaluate|consider|treat|classify)\b (?:this|the|my|that|every|each|all|it)(?: \w+){0,4}? (?:as )?(?:a |an |the )?(?:"|')?(?:full (?:score|marks|credit)|perfect score|maximum score|highest (?:possible )?(?:score|grade|rating)|top (?:score|marks)|score of (?:1(?:\.0)?|5|10|100)\b|(?:10|ten) out of (?:10|ten)|10 ?\/ ?10|5 ?\/ ?5|100 ?\/ ?100|fully met|as met|"?met"?(?=[ .,!"']|$)|passed\b|no[_ ]match)/,
      /\b(?:this|the|my|above) (?:reply|response|answer)(?: \w+){0,2} (?:meets|satisfies|fulfils|fulfills|passes) (?:all|every|each)(?: of)?(?: the| your)? (?:criteri|requirement|rubric|check|test)/,
      /\b(?:mark|label|set|answer|output|return|respond with|verdict(?: is| must be| should be)?)\b[ :"']{1,4}(?:every(?:thing)?|all|each|only)?(?: \w+){0,3}? ?[:"'`]{0,2}(?:no_match|not_met|cannot_tell)\b/,
      /\b(?:all|every|each|any|no|none of the) (?:scenarios?|test cases?|tests?|criteri(?:a|on)) (?:is|are|do|does|must|should|appl|match|be)\w*(?: \w+){0,4} ?(?:match|met\b|irrelevant|not relevant)/,
      /\b(?:all|every|each|any|no|none of the) (?:scenarios?|criteri(?:a|on)) (?:applies|apply|match|matches|fits?|pass|passes|(?:is|are) (?:met|passed|fulfilled|satisfied))\b/,
      /\b(?:this|the) (?:input|message|conversation|text) (?:matches|belongs to|fits|relates to) (?:none|no|nothing)\b(?: of the| of your)? ?(?:scenario|test|label|categor|\.|$|,)/,
      /\b(?:bewerte|benote|werte)\w* (?:diese|die|meine|jede)\w*(?: \p{L}+){0,4} (?:mit der (?:vollen|höchsten|besten)|voller|maximaler|als (?:voll )?erfüllt|mit (?:10|zehn|100))/u,
      /(?<!\p{L})(?:donne[zr]?|attribue[zr]?|note[zr]?)(?: \p{L}+){0,4} (?:la note maximale|le score maximal|la meilleure note|10 ?\/ ?10|20 ?\/ ?20)/u,
      /(?<!\p{L})(?:da|dale|dé|asigna|otorga|califica|atribua|dê|avalie|assegna|valuta)(?: \p{L}+){0,5} (?:la puntuación (?:máxima|más alta)|la máxima puntuación|la calificación máxima|a nota máxima|pontuação máxima|il punteggio (?:massimo|pieno)|10 ?\/ ?10)/u,
      /(?<!\p{L})(?:поставь\p{L}*|оцени\p{L}*|присвой\p{L}*)(?: \p{L}+){0,5} (?:максимальн|высш|высок)\p{L}* (?:балл|оценк)/u,
      /(?:给|給|打|评为|評為|判定为|判定為)[^。\n]{0,10}(?:满分|滿分|最高分|全部满足|全部通过|完全符合)/,
      /(?:満点|最高(?:点|評価|得点))[^。\n]{0,6}(?:を与え|をつけ|を付け|にしてください|としてください)/,
      /(?:만점|최고 ?점수|최고점)[^.\n]{0,6}(?:을|를)? ?(?:주|부여|매기)/,
    ],
  },
  {
    reason: "It imitates the marks by which a model tells messages apart.",
    patterns: [
      /<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|system|assistant|user|channel|message)\|>/,
      /\[\/?inst\]|<<\/?sys>>|<\/?(?:start|end)_of_turn>|<(?:start|end)_of_turn>/,
      /(?:^|[^\w#])#{2,4} ?(?:system|new (?:system )?instructions?)(?: prompt| message)?:/,
      /\bend of material\b|\bbegin (?:new )?system (?:prompt|message)\b/,
    ],
  },
];
