// What a project lets its judge see: texts without what its rules for the judge find, and tool results only if it allows.

import type {
  RoutingAnswer,
  RoutingQuestion,
  SemanticAnswer,
  SemanticQuestion,
  Withheld,
} from "../model/judge/judge.ts";
import type { EarlierMessages, Material, MaterialItem } from "../model/judge/material.ts";
import { type Unanswered, unanswered } from "../model/judge/outcome.ts";
import { type Bounded, promptBounds, shownLength } from "../model/judge/prompt-bounds.ts";
import type { JudgePolicy } from "../redaction/of-project.ts";

export function routingAsShown(question: RoutingQuestion, { redactor }: JudgePolicy): RoutingQuestion {
  if (!redactor) return question;
  const { userInput, earlier, redacted, ...rest } = question;
  const { redact, rules } = redacting(redactor, redacted);
  return {
    ...rest,
    userInput: redact(userInput),
    ...(earlier ? { earlier: earlierWith(earlier, redact) } : {}),
    ...withRules(redacted, rules),
  };
}

/** Keeps what it made of a conversation, since the questions about a trace share it. */
export class ShownQuestions {
  readonly #policy: JudgePolicy;
  readonly #materials = new Map<Material, { material: Material; rules: Set<string> }>();

  constructor(policy: JudgePolicy) {
    this.#policy = policy;
  }

  of(question: SemanticQuestion): SemanticQuestion {
    const { redactor, seesToolResults } = this.#policy;
    if (!redactor && seesToolResults) return question;
    const { userInput, response, material, redacted, ...rest } = question;
    const { redact, rules } = redacting(redactor, redacted);
    const shown = {
      ...rest,
      userInput: userInput === null ? null : redact(userInput),
      response: redact(response),
    };
    const around = material && this.#materialOf(material, redacted);
    for (const rule of around?.rules ?? []) rules.add(rule);
    return { ...shown, ...(around ? { material: around.material } : {}), ...withRules(redacted, rules) };
  }

  #materialOf(material: Material, redacted?: string[]): { material: Material; rules: Set<string> } {
    const known = this.#materials.get(material);
    if (known) return known;
    const { redactor, seesToolResults } = this.#policy;
    const { redact, rules } = redacting(redactor, redacted);
    const items = material.items
      .filter(({ kind }) => seesToolResults || kind !== "tool_result")
      .map(item => itemWith(item, redact));
    const withheld = seesToolResults ? {} : { toolResults: false as const };
    const offered = material.offered ? { offered: material.offered.map(name => nameWith(name, redact)) } : {};
    const made = { material: { ...material, items, ...offered, ...withheld }, rules };
    this.#materials.set(material, made);
    return made;
  }
}

/** The answer, with what the judge was not shown of the question. */
export function explained(
  answer: SemanticAnswer,
  question: SemanticQuestion,
  shown: SemanticQuestion,
): SemanticAnswer {
  if (question === shown) return answer;
  const toolResults = resultsIn(question.material) - resultsIn(shown.material);
  if (answer.code === "ok") {
    const rules = addedRules(question, shown);
    const withheld: Withheld = {
      ...(rules.length > 0 ? { rules } : {}),
      ...(toolResults > 0 ? { toolResults } : {}),
    };
    return Object.keys(withheld).length > 0 ? { ...answer, withheld } : answer;
  }
  return toolResults > 0 ? withheldFrom(answer) : answer;
}

export function routeExplained(
  answer: RoutingAnswer,
  question: RoutingQuestion,
  shown: RoutingQuestion,
): RoutingAnswer {
  const rules = addedRules(question, shown);
  return answer.code === "ok" && rules.length > 0 ? { ...answer, withheld: { rules } } : answer;
}

type Redacted = Pick<RoutingQuestion, "redacted">;

/** Those that changed what the judge was shown, and not what is stored. */
function addedRules({ redacted = [] }: Redacted, shown: Redacted): string[] {
  return (shown.redacted ?? []).filter(rule => !redacted.includes(rule));
}

function withheldFrom(answer: Unanswered): Unanswered {
  if (answer.detail.code !== "judge_undecided") return answer;
  const { comment } = answer.detail.data;
  return unanswered("undecided", { code: "judge_withheld", data: { comment } });
}

function resultsIn(material: Material | undefined): number {
  return material?.items.filter(({ kind }) => kind === "tool_result").length ?? 0;
}

/** `before`: the rules that redacted something in the trace before it was stored. */
function redacting(redactor: JudgePolicy["redactor"], before?: readonly string[]) {
  const rules = new Set<string>();
  const known = new Set(before);
  const redact = (text: string): string => {
    if (!redactor) return text;
    const { text: changed, counts } = redactor.text(text, { known });
    for (const rule in counts) rules.add(rule);
    return changed;
  };
  return { redact, rules };
}

function withRules(redacted: string[] | undefined, rules: Set<string>): { redacted?: string[] } {
  const all = new Set([...(redacted ?? []), ...rules]);
  return all.size > 0 ? { redacted: [...all].sort() } : {};
}

/** Names of tools and sub-agents come from the agent, as texts do. */
function itemWith(item: MaterialItem, redact: (text: string) => string): MaterialItem {
  const { text, name, agent, is } = item;
  return {
    ...item,
    text: is ? text : boundedWith(text, redact),
    ...(name === undefined ? {} : { name: nameWith(name, redact) }),
    ...(agent === undefined ? {} : { agent: nameWith(agent, redact) }),
  };
}

/** A name of this length may have been cut, so its end goes as that of a cut text does. */
function nameWith(name: string, redact: (text: string) => string): string {
  return redact(name.length < promptBounds.name ? name : name.slice(0, -edge).toWellFormed());
}

function earlierWith(
  { messages, leftOut }: EarlierMessages,
  redact: (text: string) => string,
): EarlierMessages {
  return { leftOut, messages: messages.map(({ from, text }) => ({ from, text: boundedWith(text, redact) })) };
}

/** Values that the rules find are seldom longer. */
const edge = 80;

/** Where a text was cut, the characters next to the gap go too: a value may have been cut there, and be no longer known. */
function boundedWith(text: Bounded, redact: (text: string) => string): Bounded {
  if (typeof text === "string") return redact(text);
  const start = redact(text.start.slice(0, -edge).toWellFormed());
  const end = redact(text.end.slice(edge).toWellFormed());
  const characters = text.characters_left_out + shownLength(text) - start.length - end.length;
  return { start, end, characters_left_out: Math.max(1, characters) };
}
