// Sentences in fifteen languages around values. The first of each kind are those that rules were tuned on, the last are held out.
import { readFileSync } from "node:fs";

/** `phone`: {v} is one. `any`: for emails, cards and others. `secret`: after a word for password. `order`: {v} is none of what rules find. */
export type Sentences = { phone: string[]; any: string[]; secret: string[]; order: string[] };

export const sentences: Record<string, Sentences> = JSON.parse(
  readFileSync(new URL("./sentences.json", import.meta.url), "utf8"),
);

export const heldOutFrom = 3;
