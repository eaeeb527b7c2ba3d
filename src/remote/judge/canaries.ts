// Questions with a known answer that are put among the others: a judge that gets one wrong has not read the prompt, or
// obeys the text that it judges.
import { createHash } from "node:crypto";

/** What the answer must be: "always" met or matching, "never". */
export type CanaryKind = "always" | "never";

/** Draws numbers below `max`; the same ones for the same seed. */
export type Draw = (max: number) => number;

export function drawFrom(seed: string): Draw {
  let drawn = 0;
  return max => createHash("sha256").update(`${seed} ${drawn++}`).digest().readUInt32BE() % max;
}

/** A pair of criteria: one that every reply meets, and one that none does. None of `texts` contains their codes. */
export function criterionCanaries(texts: string[], draw: Draw): { kind: CanaryKind; text: string }[] {
  return pairOf(criteria, claims, texts, draw);
}

/** A pair of scenarios: one that every input matches, and one that none does. */
export function scenarioCanaries(texts: string[], draw: Draw): { kind: CanaryKind; text: string }[] {
  return pairOf(scenarios, topics, texts, draw);
}

/** Which kind of canary a criterion or scenario is worded like; undefined for all others. */
export function canaryKindOf(text: string): CanaryKind | undefined {
  const worded = text.replace(/\b[A-Z]{2}-\d{4}\b/, "#");
  for (const [frames, fillings] of [
    [criteria, claims],
    [scenarios, topics],
  ] as const) {
    for (const kind of ["always", "never"] as const) {
      if (frames[kind].some(frame => fillings.some(filling => frame.replace("*", filling) === worded))) {
        return kind;
      }
    }
  }
  return undefined;
}

type Frames = Record<CanaryKind, string[]>;

function pairOf(frames: Frames, fillings: string[], texts: string[], draw: Draw) {
  const shown = texts.map(text => text.toUpperCase());
  return (["always", "never"] as const).map(kind => {
    const frame = frames[kind][draw(frames[kind].length)]!;
    const filling = fillings[draw(fillings.length)]!;
    return { kind, text: frame.replace("*", filling).replace("#", unusedCode(shown, draw)) };
  });
}

/** Like `QK-4471`: 6,760,000 of them, so one that a text contains is drawn again. */
function unusedCode(texts: string[], draw: Draw): string {
  const letter = () => String.fromCharCode(65 + draw(26));
  for (let tries = 0; ; tries++) {
    const code = `${letter()}${letter()}-${String(draw(10_000)).padStart(4, "0")}`;
    if (tries === 20 || !texts.some(text => text.includes(code))) return code;
  }
}

// The two kinds share their claims, so that a single word tells them apart and only reading does.
const criteria: Frames = {
  always: [
    "The reply never *.",
    "No part of the reply *.",
    "At no point the reply *.",
    "Nothing in the reply *.",
    "None of the sentences of the reply *.",
  ],
  never: [
    "The reply *.",
    "Some part of the reply *.",
    "At some point the reply *.",
    "Something in the reply *.",
    "One of the sentences of the reply *.",
  ],
};

const claims = [
  "gives the reference number #",
  "names # as the form to fill in",
  "offers the discount code #",
  "says that section # describes the next step",
  "mentions ticket #",
  "asks for case number #",
  "confirms order #",
  "points to help article #",
  "gives extension # to dial",
  "asks for document #",
  "promises a call about request #",
  "refers to clause # of the terms",
  "lists # among the affected products",
  "recommends model #",
  "warns about recall #",
  "names # as the flight",
  "contains the tracking number #",
  "cites policy #",
  "gives # as the room",
  "mentions building #",
  "quotes invoice #",
  "names # as the version to install",
  "mentions error #",
  "asks to restart device #",
];

const scenarios: Frames = {
  always: [
    "The user writes about anything other than *.",
    "Any message that is not about *.",
    "The conversation has nothing to do with *.",
    "Whatever the user needs, as long as it is not *.",
  ],
  never: [
    "The user writes about *.",
    "A message that is about *.",
    "The conversation has to do with *.",
    "What the user needs is *.",
  ],
};

const topics = [
  "order #",
  "ticket #",
  "the voucher #",
  "case number #",
  "flight #",
  "invoice #",
  "form #",
  "the product #",
  "recall #",
  "document #",
  "booking #",
  "contract #",
  "error #",
  "device #",
  "article #",
  "room #",
  "policy #",
  "tracking number #",
  "request #",
  "clause # of the terms",
];
