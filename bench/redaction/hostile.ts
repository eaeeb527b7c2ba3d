// Texts made to be slow: what nearly matches a rule everywhere, or makes it look far from every position.
import { sentences } from "./sentences.ts";

const fill = (unit: string, size: number) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

/** By name: a text of about as many characters. */
export const hostile: Record<string, (size: number) => string> = {
  "@ only": size => fill("@", size),
  "a@a@": size => fill("a@", size),
  emails: size => fill("jane.doe@example.com ", size),
  "one long local part": size => `${fill("a", size - 14)}@example.com x`,
  "a run of digits": size => fill("1234567890", size),
  "pairs of digits": size => fill("12 ", size),
  "digits with separators": size => fill("4111-", size),
  "plus signs and brackets": size => fill("+(0)", size),
  "colons and hex": size => fill("fe80:", size),
  "double colons": size => fill("::1", size),
  "points and digits": size => fill("1.2.3.", size),
  eyJ: size => fill("eyJ", size),
  "eyJ with points": size => fill("eyJaaaaaaaa.", size),
  "PEM without an end": size => fill("-----BEGIN PRIVATE KEY-----\n", size),
  hyphens: size => fill("-", size),
  "password:": size => fill("password: ", size),
  "password=x1": size => fill("password=x1Y", size),
  bearer: size => fill("bearer a", size),
  "sk-": size => fill("sk-a", size),
  "sk- letters": size =>
    fill("sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", size),
  "user:pass@": size => fill("://a:b", size),
  "open brackets": size => fill("[", size),
  "nested JSON in text": size => {
    let text = fill("jane ", Math.floor(size / 40));
    for (let level = 0; level < 6; level++) text = JSON.stringify({ a: text, b: ["x"] });
    return fill(text, size);
  },
  "texts in other scripts": size => fill("密码 пароль 電話 ", size),
  "full-width @": size => fill("x＠", size),
  "%40": size => fill("%40", size),
  "groups of three": size => fill("123 456 789 ", size),
  "phone words": size => fill("tel 12 34 567 a ", size),
  "phone numbers": size => fill("(415) 555-2671, ", size),
  "cards that are none": size => fill("4111 1111 1111 1112 ", size),
  "IBANs that are none": size => fill("DE88370400440532013000 ", size),
  "IPv6 that is none": size => fill("a::b ", size),
  "IPv4 addresses": size => fill("1.2.3.4 ", size),
  "sk-sk-": size => fill("sk-sk-", size),
  "PEM with other characters": size => fill("-----BEGIN PRIVATE KEY-----_", size),
  "password is nothing": size => fill("password: Abc*** ", size),
  "password without an end": size => fill("pwd:my_", size),
  "token=1a": size => fill("token=1a", size),
  "letters and digits": size => fill("a1", size),
  "other@other": size => fill("é@é.", size),
  "keys of secrets": size => `[${'{"pwd":"a"},'.repeat(Math.ceil(size / 12))}{}]`,
  quotes: size => fill('"', size),
  escapes: size => `["${fill("\\u0040", size - 4)}"]`,
  backslashes: size => `["${fill("\\\\", size - 4)}"]`,
  "many texts in JSON": size => `[${fill('"a",', size - 5)}"a"]`,
  "nearly own rules": size => fill("abc 123@ abc 123# ", size),
};

/** Twenty own rules that nearly match in many places. */
export const nearlyOwnRules = Array.from({ length: 20 }, (_, at) => ({
  name: `own-${at}`,
  pattern: `[a-z@0-9 ]{8,20}#${at}[A-Z]{2}`,
}));

/** Prose in 15 languages. */
export function proseOf(size: number): string {
  const all = Object.values(sentences).flatMap(kinds => Object.values(kinds).flat());
  return fill(`${all.join(" ").replaceAll("{v}", "the value")} `, size);
}
