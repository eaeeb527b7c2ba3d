// Finds secrets by the words before them, such as password and api_key, in prose, settings, URLs and keys of fields.

import { isAfterPlaceholder } from "./characters.ts";

type Place = { start: number; end: number };

/** Said of what people choose: any value with two kinds of characters counts. */
const passwords =
  "pass(?:word|wort|phrase|wd|code)?|pwd|pswd|kennwort|contrase[ñn]a|clave|senha|mot de passe|mdp|wachtwoord|has[łl]o|l[öo]senord|[şs]ifre(?:m|n|si|niz|miz)?|parola(?:m|n|s[ıi]|n[ıi]z|m[ıi]z)?|пароль|密码|密碼|口令|パスワード|暗証|비밀번호|암호|كلمة (?:المرور|السر)|पासवर्ड|mật khẩu|kata sandi|salasana|κωδικός";
/** Said of what programs make: the value must look random. */
const keys =
  "secret(?:[ _-]?(?:key|access[ _-]?key))?|(?:api|access|auth|private|signing|encryption|client|account|master|shared|service)[ _-]?(?:key|secret|token)|api[ _-]?schl[üu]ssel|(?:bearer|refresh|session|id|csrf|security|bot|webhook)[ _-]?token|token|credentials?|x-api-key|cl[ée] (?:api|secr[èe]te)|clave (?:de )?api|chave (?:de )?api|ключ|токен|密钥|令牌";

const endsWithWord = new RegExp(`(?:(${passwords})|(?:${keys}))$`, "i");
/** Between the word and the value: `is`, quotes, an equals sign. */
const joins =
  /(?:["'`*_)\]\\]{0,3}\s{0,2}(?:(?:is|was|are|ist|lautet|es|est|è|é|är|er|to|auf|в|это|jest|is:|=>|:=|==|[=:：]|→|は|が|는|은|是|为|為)(?![a-z])\s{0,2}){1,2}["'`*_(\\[]{0,3})$/iu;

const reach = 48;
const valueMax = 512;

/** Whether a key, such as `db.password` or `apiKey`, says that its value is a secret. */
export function isSecretKey(key: string): boolean {
  if (key.length > 64) return false;
  const said = key.replace(/([a-z\d])([A-Z])/g, "$1_$2").toLowerCase();
  return (
    endsWithWord.test(said) && !/(?:max|min|num|count|input|output|total|prompt)[._-]?tokens?$/.test(said)
  );
}

/** The secret that a whole text is, in a field whose key says so; null if it looks like none. */
export function secretIn(text: string, key: string): Place | null {
  if (text.length > 4 * valueMax || !isSecretKey(key)) return null;
  const start = text.length - text.trimStart().length;
  const value = text.trim();
  if (/\s/.test(value) || !looksSecret(value, isPasswordWord(key))) return null;
  return { start, end: start + value.length };
}

function isPasswordWord(said: string): boolean {
  return endsWithWord.exec(said.replace(/([a-z\d])([A-Z])/g, "$1_$2"))?.[1] !== undefined;
}

/** The secret that begins here, after a word that says so; `end` is where the value ends, secret or not. */
export function secretAt(text: string, start: number): { place: Place | null; end: number } {
  const end = endOfValue(text, start);
  const none = { place: null, end };
  if (end - start < 6) return none;
  if (!mayBeSaid(text, start) || !isMixed(text, start, end)) return none;
  const said = text.slice(Math.max(0, start - reach), start);
  const join = joins.exec(said);
  const word = (join ? said.slice(0, join.index) : said.replace(/["'`\s]{1,3}$/, "")).replace(
    /["'`*_\s\\]+$/,
    "",
  );
  if (!join && said === word) return none;
  const found = endsWithWord.exec(word);
  if (!found || (/[a-z]/i.test(word[found.index - 1] ?? "") && !/[_-]/.test(found[0]))) return none;
  const isPlaceholder = word[found.index - 1] === "[" && said[found.index + found[0].length] === "]";
  if (isPlaceholder || isAfterPlaceholder(word, found.index)) return none;
  const isPassword = found[1] !== undefined;
  const value = text.slice(start, end);
  // “password reset2024” is no password: without `is` or a colon, the value must look random.
  if (!looksSecret(value, isPassword && (join !== null || /[^\u0000-\u024f]$/.test(word)))) return none;
  return { place: { start, end }, end };
}

/** The last letters of the words that say a secret follows, and of what may stand between. */
const lastLetters: ReadonlySet<number> = new Set(
  Array.from("dtehacprnyosmwñзzıiàłльокéè码碼令ド証호는은은호رदाuiuςعسرक्ड钥牌يでが为為是はто→", char =>
    char.charCodeAt(0),
  ),
);

/** Whether the last letter before the value is that of such a word; most are not. */
function mayBeSaid(text: string, start: number): boolean {
  let at = start - 1;
  const least = Math.max(0, start - 8);
  while (at >= least && joints.has(text.charCodeAt(at))) at--;
  if (at < least) return false;
  const code = text.charCodeAt(at);
  return code > 0x24f || lastLetters.has(code < 128 ? code | 32 : code);
}

const joints: ReadonlySet<number> = new Set(
  Array.from(" \t\n\u00a0\"'`*_)(\\[]=:：>", char => char.charCodeAt(0)),
);

/** Whether there is more than letters of one case: no word of a language is a secret. */
function isMixed(text: string, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 97 || (code > 122 && code < 128)) return true;
  }
  return false;
}

/** Where a value that has this position in it begins: after a blank, a quote, an equals sign or a colon. */
export function startOfValue(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < 64) {
    const code = text.charCodeAt(start - 1);
    if (opens.has(code) || code > 0x24f) break;
    start--;
  }
  return start;
}

/** Whether a run of digits is only a part of a value: something other than a blank or a quote is at one of its ends. */
export function isPartOfValue(text: string, start: number, end: number): boolean {
  const [before, after] = [text.charCodeAt(start - 1), text.charCodeAt(end)];
  if (start > 0 && !opens.has(before) && before <= 0x24f && before !== 46 && before !== 45 && before !== 47)
    return true;
  return end < text.length && !closes.has(after) && after <= 0x24f && !numberMarks.has(after);
}

function endOfValue(text: string, start: number): number {
  let end = start;
  const most = Math.min(text.length, start + valueMax);
  while (end < most && !closes.has(text.charCodeAt(end))) end++;
  while (end > start && trailing.has(text.charCodeAt(end - 1))) end--;
  return end;
}

const codesOf = (chars: string): ReadonlySet<number> =>
  new Set(Array.from(chars, char => char.charCodeAt(0)));
const opens = codesOf(" \t\r\n\u00a0\"'`=:：<>[]{}()、。「」『』（）\\,;|→");
const closes = codesOf(" \t\r\n\u00a0\"'`<>{}[]、。「」『』（）\\,;|");
const trailing = codesOf(".,:!?)");
/** After a number in prose and in JSON. */
const numberMarks = codesOf(".,:!?)%-/");

/** Not for what stands for a secret: ***, <password>, ${PASSWORD}, your-api-key. */
function looksSecret(value: string, isPassword: boolean): boolean {
  if (value.length < 6 || value.length > valueMax || /^(?:[[<{*]|[$%#]\{|%[A-Z_]+%|\$[A-Z_]+$)/.test(value))
    return false;
  if (
    /^(?:your|my|the|change|example|redacted|xxx|https?:|s3:|file:|env[.:]|process\.)|\*\*\*|…|\.\.\.|^p_/i.test(
      value,
    )
  )
    return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter(kind => kind.test(value)).length;
  if (isPassword)
    return (
      kinds >= 2 && !/^[A-Za-z]?[a-z]+$/.test(value) && !/^[\d.:/-]+$/.test(value) && !isPlainWords(value)
    );
  if (value.length < 12 || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return entropy(value) >= 3 && !/^[A-Za-z]+[-_./][\d.]+$/.test(value);
}

/** `two-factor`, `Login/Passwort`: letters with one mark between. */
function isPlainWords(value: string): boolean {
  return (
    /^[A-Za-z]?[a-z]+(?:[-_/.'’][A-Za-z]?[a-z]+)+$/.test(value) ||
    (/[^\u0000-\u024f]/.test(value) && !/\d/.test(value))
  );
}

/** In bits a character. */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** The password in a URL such as `postgres://app:password@host`, whose @ is here. */
export function urlPasswordAt(text: string, at: number): Place | null {
  let colon = -1;
  for (let start = at - 1; start >= 0 && at - start < 200; start--) {
    const code = text.charCodeAt(start);
    if (code <= 32 || code === 34 || code === 39 || code === 64) return null;
    if (code === 47) {
      const isUrl = colon > start && text.charCodeAt(start - 1) === 47 && text.charCodeAt(start - 2) === 58;
      const password = text.slice(colon + 1, at);
      return isUrl && password.length >= 3 && !/^[[<{$*%]/.test(password)
        ? { start: colon + 1, end: at }
        : null;
    }
    if (code === 58) colon = start;
  }
  return null;
}
