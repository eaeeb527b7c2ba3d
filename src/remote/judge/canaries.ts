// Questions with a known answer that are put among the others: a judge that gets one wrong has not read the prompt, or
// obeys the text that it judges.
import { createHash } from "node:crypto";
import { gap } from "../../model/judge/prompt-bounds.ts";
import { hasContentWord } from "./content-words.ts";

/** What the answer must be: "always" met or matching, "never". */
export type CanaryKind = "always" | "never";

export type Canary = { kind: CanaryKind; text: string };

/** Draws numbers below `max`; the same ones for the same seed. */
export type Draw = (max: number) => number;

export function drawFrom(seed: string): Draw {
  let drawn = 0;
  return max => createHash("sha256").update(`${seed} ${drawn++}`).digest().readUInt32BE() % max;
}

/** A pair of criteria about the words of the reply: one that it meets, and one that it does not. `others`: all else shown. */
export function criterionCanaries(reply: string, others: string[], draw: Draw): Canary[] {
  return wordCanaries(criteria, reply, others, draw);
}

/** A pair of scenarios about the words of the input: one that matches, and one that does not. */
export function scenarioCanaries(input: string, others: string[], draw: Draw): Canary[] {
  return wordCanaries(scenarios, input, others, draw);
}

/** What a criterion rests on, known for certain: neither has a condition. */
export type ClassCanary = { restsOn: "passage" | "absence"; text: string };

/** A pair of criteria to be classified. */
export function classCanaries(draw: Draw): ClassCanary[] {
  return (["passage", "absence"] as const).map(restsOn => {
    const frames = classFrames[restsOn];
    const claim = claims[draw(claims.length)]!;
    const text = frames[draw(frames.length)]!.replace("*", claim).replace("#", codeFrom(draw));
    return { restsOn, text };
  });
}

/** Which kind of canary a criterion or scenario about this text is worded like; undefined for all others. */
export function canaryKindOf(question: string, about: string): CanaryKind | undefined {
  for (const frames of [criteria, scenarios]) {
    for (const side of ["has", "lacks"] as const) {
      for (const frame of frames[side]) {
        const [start, end] = frame.split("*") as [string, string];
        if (!question.startsWith(start) || !question.endsWith(end)) continue;
        const word = question.slice(start.length, question.length - end.length);
        if (!/^[\p{L}\p{M}\p{N}]{1,16}$/u.test(word)) continue;
        const isIn = about.toLowerCase().includes(word.toLowerCase());
        return isIn === (side === "has") ? "always" : "never";
      }
    }
  }
  return undefined;
}

/** Which class canary a criterion is worded like. */
export function classCanaryOf(criterion: string): ClassCanary["restsOn"] | undefined {
  const worded = criterion.replace(/\b[A-Z]{2}-\d{4}\b/, "#");
  return (["passage", "absence"] as const).find(restsOn =>
    classFrames[restsOn].some(frame => claims.some(claim => frame.replace("*", claim) === worded)),
  );
}

/** Sentences that say that a text has a word, and that it does not. */
type Frames = Record<"has" | "lacks", string[]>;

/**
 * Whether a word is one of the text's own or none of its words, and whether the sentence says that the text has it, is
 * drawn: so neither the sentence nor the word alone tells the answer, and only reading does.
 */
function wordCanaries(frames: Frames, text: string, others: string[], draw: Draw): Canary[] {
  const drawn = [0, 1].map(() => [draw(frames.has.length), draw(frames.lacks.length)]);
  // Of a text with its middle left out, nobody can tell what is not in it.
  const sides = ["has lacks", "has has", "lacks lacks"][draw(3) * Number(!text.includes(gap))]!;
  const words = ownWords(text);
  // At least one asks for a word of the text, if it has any.
  const [always, never] = (words.length > 0 ? sides : "lacks has").split(" ") as ("has" | "lacks")[];
  const worded = (at: number, side: "has" | "lacks", word: string) =>
    frames[side][drawn[at]![side === "has" ? 0 : 1]!]!.replace("*", () => word);
  const own = () => words[draw(words.length)]!;
  const absent = () => absentWord([text, ...others], draw);
  return [
    { kind: "always", text: worded(0, always!, always === "has" ? own() : absent()) },
    { kind: "never", text: worded(1, never!, never === "has" ? absent() : own()) },
  ];
}

const searched = 2_000;

/**
 * Words from the beginning and the end of a text, none of which can be more than a word: letters and digits alone, of
 * bounded length, since they stand among the instructions.
 */
function ownWords(text: string): string[] {
  const ends = text.length <= 2 * searched ? [text] : [text.slice(0, searched), text.slice(-searched)];
  const pieces = ends.flatMap(end => end.replace(placeholder, " ").split(gap));
  const all = pieces
    .flatMap((piece, at) => {
      const words = [...segmenter.segment(piece)].filter(({ isWordLike }) => isWordLike);
      // Where a text was cut, there may be half a word.
      return words.slice(at === 0 ? 0 : 1, at === pieces.length - 1 ? undefined : -1);
    })
    .flatMap(({ segment }) => (/^[\p{L}\p{M}\p{N}]{1,16}$/u.test(segment) ? segment : []));
  const telling = all.filter(
    word =>
      (spaced.test(word) ? /^\p{L}{4,}$/u.test(word) : word.length > 1) && hasContentWord(word.toLowerCase()),
  );
  return [...new Set(telling.length > 0 ? telling : all)];
}

/** Of a redacted value: the judge is told to read it as that value. */
const placeholder = /⟦[a-z0-9_-]{1,32}⟧|\[unchecked\]|\bp_\w+/g;

const segmenter = new Intl.Segmenter("en", { granularity: "word" });
const spaced = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

/** A word that is not even part of another one in these texts. */
function absentWord(texts: string[], draw: Draw): string {
  const shown = texts.map(text => text.toLowerCase());
  const first = draw(decoys.length);
  const order = [...decoys.slice(first), ...decoys.slice(0, first)];
  const stem = (word: string) => word.slice(0, 4);
  return (
    order.find(word => !shown.some(text => text.includes(stem(word)))) ??
    `${order[0]}${codeFrom(draw).slice(3)}`
  );
}

/** Like `QK-4471`. */
function codeFrom(draw: Draw): string {
  const letter = () => String.fromCharCode(65 + draw(26));
  return `${letter()}${letter()}-${String(draw(10_000)).padStart(4, "0")}`;
}

const criteria: Frames = {
  has: [
    "The reply contains the word “*”.",
    "The word “*” occurs in the reply.",
    "Uses the word “*” at least once.",
    "The word “*” can be found in the reply.",
    "The reply has the word “*” in it.",
    "“*” is among the words of the reply.",
    "At least one sentence of the reply has the word “*”.",
    "Mentions “*” by this very word.",
  ],
  lacks: [
    "The reply does not contain the word “*”.",
    "The word “*” occurs nowhere in the reply.",
    "Never uses the word “*”.",
    "The word “*” cannot be found in the reply.",
    "The reply does without the word “*”.",
    "“*” is not among the words of the reply.",
    "No sentence of the reply has the word “*”.",
    "Leaves the word “*” out.",
  ],
};

const scenarios: Frames = {
  has: [
    "The user’s message contains the word “*”.",
    "The word “*” occurs in what the user writes.",
    "The user uses the word “*” at least once.",
    "Any message with the word “*” in it.",
    "A message that has “*” among its words.",
    "Whatever the user needs, as long as the word “*” is in the message.",
  ],
  lacks: [
    "The user’s message does not contain the word “*”.",
    "The word “*” occurs nowhere in what the user writes.",
    "The user never uses the word “*”.",
    "Any message without the word “*” in it.",
    "A message that does not have “*” among its words.",
    "Whatever the user needs, as long as the word “*” is not in the message.",
  ],
};

// Words of no conversation in particular, of which no two begin alike.
const decoys =
  "accordion anvil apricot badger bagpipe bamboo beeswax birch bramble buffalo cactus cello chestnut cobalt comet copper cricket crocus dahlia dolphin dragonfly eclipse falcon fennel flamingo foxglove galleon garnet glacier hammock harpoon hazelnut hedgehog igloo juniper kestrel lagoon lantern lavender lighthouse magnolia mandolin marmalade meteor mulberry nectarine nightingale nutmeg octopus orchid otter papyrus pelican pigeon porcupine quartz raccoon raspberry saffron sapphire sequoia sparrow tadpole tambourine thistle topaz trombone tulip velvet volcano walnut walrus willow xylophone yodel zeppelin".split(
    " ",
  );

// The two share their claims, so that only the form tells them apart, which is what is asked.
const classFrames: Record<ClassCanary["restsOn"], string[]> = {
  passage: ["The reply *.", "Some sentence of the reply *.", "At some point the reply *."],
  absence: ["The reply never *.", "No sentence of the reply *.", "At no point the reply *."],
};

const claims = [
  "gives the reference number #",
  "names # as the form to fill in",
  "offers the discount code #",
  "mentions ticket #",
  "asks for case number #",
  "confirms order #",
  "points to help article #",
  "promises a call about request #",
  "refers to clause # of the terms",
  "recommends model #",
  "warns about recall #",
  "cites policy #",
  "quotes invoice #",
  "mentions error #",
  "asks to restart device #",
];
