// The labeled set: texts with the places of what rules should find, generated from seeds, and some made by hand.
import { handMade } from "./hand-made.ts";
import { negative, negativeKinds } from "./negatives.ts";
import { phone, phoneLanguages } from "./phones.ts";
import { Random } from "./random.ts";
import { heldOutFrom, sentences } from "./sentences.ts";
import { card, email, iban, ip, knownKey, password, plainKey, ssn } from "./values.ts";

/** `value` is in `text`, and is found by `rule`, or by none if that is null. */
export type Labeled = {
  text: string;
  value: string;
  rule: string | null;
  kind: string;
  language: string;
  isHeldOut: boolean;
};

type Make = (
  random: Random,
  sentence: (kind: "phone" | "any" | "secret" | "order") => string,
) => Omit<Labeled, "language" | "isHeldOut">;

/** Some sentences of a language, one kind of value. How many are made for each language, tuned and held out alike. */
const makers: [count: number, make: (language: string) => Make][] = [
  [22, () => (random, sentence) => made(sentence("any"), email(random), "email", "email")],
  [26, language => (random, sentence) => made(sentence("phone"), phone(random, language), "phone", "phone")],
  [12, () => (random, sentence) => made(sentence("any"), card(random), "card", "card")],
  [10, () => (random, sentence) => made(sentence("any"), iban(random), "iban", "iban")],
  [8, () => (random, sentence) => made(sentence("any"), ip(random), "ip", "ip")],
  [9, () => (random, sentence) => made(sentence("any"), knownKey(random), "secret", "key of a known shape")],
  [5, () => (random, sentence) => made(sentence("secret"), password(random), "secret", "password")],
  [2, () => random => made(random.pick(keySentences), plainKey(random), "secret", "key after a word")],
  [12, () => (random, sentence) => madeNegative(random, sentence)],
];

const keySentences = [
  "api_key={v}",
  "API key: {v}",
  "X-Api-Key: {v}",
  'secret = "{v}"',
  "export ACCESS_TOKEN={v}",
  "client_secret: {v}",
  "Authorization: Bearer {v}",
  "the token is {v}",
];
const ssnSentences = [
  "My SSN is {v}.",
  "social security number: {v}",
  "SSN {v}",
  "{v} is my social",
  "It was {v}, I think.",
];

const negativesInAnySentence = new Set([
  "UUID",
  "UUID of digits",
  "hash",
  "trace ID",
  "version",
  "time",
  "ISBN",
  "coordinates",
  "amount",
  "MAC address",
  "file",
  "code",
  "ID",
]);

function madeNegative(random: Random, sentence: (kind: "any" | "order") => string): ReturnType<Make> {
  const kind = random.pick(negativeKinds);
  const inAny = negativesInAnySentence.has(kind) && random.next() < 0.5;
  return made(sentence(inAny ? "any" : "order"), negative(random, kind), null, kind);
}

function made(sentence: string, value: string, rule: string | null, kind: string): ReturnType<Make> {
  return { text: sentence.replace("{v}", () => value), value, rule, kind };
}

/** The same for the same seed. */
export function generated(seed: number, isHeldOut: boolean): Labeled[] {
  const random = new Random(seed);
  const all: Labeled[] = [];
  for (const language of phoneLanguages) {
    const own = sentences[language]!;
    const sentence = (kind: keyof typeof own) =>
      random.pick(isHeldOut ? own[kind].slice(heldOutFrom) : own[kind].slice(0, heldOutFrom));
    for (const [count, make] of makers) {
      for (let at = 0; at < count; at++)
        all.push({ ...make(language)(random, sentence), language, isHeldOut });
    }
  }
  for (let at = 0; at < 60; at++) {
    all.push({ ...made(random.pick(ssnSentences), ssn(random), "ssn", "ssn"), language: "en", isHeldOut });
  }
  return all;
}

export function labeledSet(): Labeled[] {
  return [...generated(20_26, false), ...generated(11_23, true), ...handMade];
}
