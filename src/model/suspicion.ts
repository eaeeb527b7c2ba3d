// Whether a text speaks to whoever judges it rather than to whoever it was written for: a flag, never a verdict.
import { visible } from "./visible.ts";

/** In one sentence why, with the passage; undefined for a text that does not. */
export function suspicionOf(text: string): string | undefined {
  if (hidden.test(text)) return "It holds characters that carry text which nobody sees.";
  const shown = visible(text).normalize("NFKC");
  for (const pattern of addressed) {
    const passage = pattern.exec(shown)?.[0];
    if (passage !== undefined) return `It seems to be addressed to a judge: “${excerpt(passage)}”.`;
  }
  return undefined;
}

/** Tags spell out letters unseen, and have no other use than in a few flags; so does a long row of selectors. */
const hidden = /(?<!\u{1F3F4}[\u{E0000}-\u{E007F}]*)[\u{E0020}-\u{E007E}]|[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{4}|[\u200B\u200C\u2060-\u2064]{8}/u;

// Bounded gaps, so that none takes more than linear time in the length of the text.
const addressed = [
  // What is asked of one that was given instructions before.
  /\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|these|those|every|of|my)\s+){0,4}(?:previous|prior|above|earlier|preceding|other|system)?\s{0,3}(?:instructions?|criteria|rubrics?|guidelines|system prompt)\b/i,
  // One who grades is named, and told what to say.
  /\b(?:(?:dear|attention|note to|message (?:to|for)|instructions? (?:to|for)|hey|hello)[\s:,]{1,3}(?:the\s+|all\s+|any\s+)?)(?:[a-z]{1,12}\s+)?(?:judges?|graders?|evaluators?|reviewing (?:model|ai)|LLM judge)\b/i,
  /\b(?:judges?|graders?|evaluators?)\b[\s:,]{1,3}(?:please\s+)?(?:must|should|shall|you|mark|give|answer|return|rate|label|output|award)\b[^.\n]{0,60}\b(?:met|pass(?:ed)?|no_match|match|score|full marks|verdict)\b/i,
  /\b(?:mark|rate|label|grade|score|judge|treat|consider)\s+(?:this|it|me|the|my|all|every|each|everything)\b[^.\n]{0,60}\b(?:as\s+)?["'“‘`]?(?:fully met|met|passed|no_match|not[ _-]match(?:ing)?|10\/10|100\s?%|perfect score|full marks)\b/i,
  /\b(?:all|every|each)\s+(?:of\s+the\s+)?criteri(?:a|on)\s+(?:are|is|were|was|have been|has been|should be|must be|count as)\s+(?:\w+\s+)?(?:met|satisfied|fulfilled|passed)\b/i,
  /\b(?:this|my|the)\s+(?:message|input|request|conversation|question)\s+(?:matches|fits|belongs to|relates to)\s+(?:none|no)\b[^.\n]{0,30}\b(?:scenarios?|tests?)\b/i,
  // The shape of the answer itself, and the marks that part a model's own messages.
  /"(?:verdict|label)"\s*:\s*"(?:met|mostly|partly|not_met|cannot_tell|match|unsure|no_match)"/i,
  /<\|(?:im_start|im_end|system|assistant|endoftext)\|>|\[\/?INST\]|<\/?(?:system|instructions)>|^#{2,}\s*(?:system|instructions?)\s*:/im,
  // The same in German, French, Spanish.
  /\b(?:ignorier(?:e|en Sie)|vergiss|missachte)\s+(?:\p{L}+\s+){0,3}(?:anweisungen|vorgaben|kriterien)\b/iu,
  /\b(?:ignore[zr]?|oublie[zr]?)\s+(?:\p{L}+\s+){0,3}(?:instructions|consignes|critères)(?!\p{L})/iu,
  /\b(?:ignora|ignore|olvida)\s+(?:\p{L}+\s+){0,3}(?:instrucciones|criterios)\b/iu,
];

function excerpt(passage: string): string {
  const line = passage.replace(/\s+/g, " ").trim();
  return line.length <= 80 ? line : `${line.slice(0, 79).toWellFormed()}…`;
}
