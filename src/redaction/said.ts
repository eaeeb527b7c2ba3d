// The word before a value, such as password or api_key, that says it is a secret, and what stands between the two.
import { blankMark, gapMark, markOf, openerMark, quoteMark } from "./secret-marks.ts";
import { codeAt, type Text } from "./units.ts";
import { WordTree } from "./words.ts";

/** Said of what people choose: any value with two kinds of characters counts. */
const passwords =
  "pass(?:word|wort|phrase|wd|code)?|pwd|pswd|kennwort|contrase[ñn]a|clave|senha|mot de passe|mdp|wachtwoord|has[łl]o|l[öo]senord|[şs]ifre(?:m|n|si|niz|miz)?|parola(?:m|n|s[ıi]|n[ıi]z|m[ıi]z)?|пароль|密码|密碼|口令|パスワード|暗証|비밀번호|암호|كلمة (?:المرور|السر)|पासवर्ड|mật khẩu|kata sandi|salasana|κωδικός";
/** Said of what programs make: the value must look random. */
const keys =
  "secret(?:[ _-]?(?:key|access[ _-]?key))?|(?:api|access|auth|private|signing|encryption|client|account|master|shared|service)[ _-]?(?:key|secret|token)|api[ _-]?schl[üu]ssel|(?:bearer|refresh|session|id|csrf|security|bot|webhook)[ _-]?token|token|credential(?:s)?|x-api-key|cl[ée] (?:api|secr[èe]te)|clave (?:de )?api|chave (?:de )?api|ключ|токен|密钥|令牌";
/** All of them, from their ends. */
export const words = new WordTree(
  [
    { words: passwords, value: true },
    { words: keys, value: false },
  ],
  true,
);

/** What may stand between a word and the value, from its end. */
export const joins = new WordTree(
  [
    {
      words:
        "is|was|are|ist|lautet|es|est|è|é|är|er|to|auf|в|это|jest|is:|=>|:=|==|=|:|：|→|は|が|는|은|是|为|為",
      value: true,
    },
  ],
  true,
);

/** Whether a word, or what may stand between it and a value, ends with these two units; `last` is of ASCII: they have two. */
export function mayEndWord(last: number, previous: number): boolean {
  return words.next(words.next(0, last), previous) !== 0 || joins.next(joins.next(0, last), previous) !== 0;
}

/** How far back a word counts. */
const reach = 48;

type Word = { start: number; end: number; isPassword: boolean };

/** The longest of the words that end here and begin at least at `least`. */
export function wordEndingAt(text: Text, end: number, least: number): Word | null {
  if (end === least || !words.begins(codeAt(text, end - 1))) return null;
  let start = end;
  let isPassword = false;
  let node = 0;
  for (let at = end - 1; at >= least; at--) {
    node = words.next(node, codeAt(text, at));
    if (node === 0) break;
    const values = words.valuesOf(node);
    if (values === undefined) continue;
    // Of equally long ones the password.
    isPassword = values[0]!;
    start = at;
  }
  return start === end ? null : { start, end, isPassword };
}

/** What is said before the value that begins at `start`; `isJoined`: by `is`, a colon and the like. */
export function saidBefore(text: Text, start: number): (Word & { isJoined: boolean }) | null {
  const least = Math.max(0, start - reach);
  const join = startOfJoin(text, start, least);
  let end = join === -1 ? start : join;
  while (end > least && markOf(codeAt(text, end - 1)) & gapMark) end--;
  if (end === start) return null;
  const word = wordEndingAt(text, end, least);
  if (!word) return null;
  return { start: word.start, end: word.end, isPassword: word.isPassword, isJoined: join !== -1 };
}

/** Where quotes, up to two of `is`, colons and the like, and opening marks before the value begin; -1 if there are none. */
function startOfJoin(text: Text, start: number, least: number): number {
  let at = start;
  while (at > least && markOf(codeAt(text, at - 1)) & openerMark) at--;
  return start - at > 3 ? -1 : startOfJoins(text, at, start, least, 2);
}

function startOfJoins(text: Text, from: number, start: number, least: number, left: number): number {
  let end = from;
  while (end > least && markOf(codeAt(text, end - 1)) & blankMark) end--;
  if (from - end > 2 || end === least || !joins.begins(codeAt(text, end - 1))) return -1;
  if (end < start && isLetter(codeAt(text, end))) return -1;
  let best = -1;
  let node = 0;
  for (let to = end - 1; to >= least; to--) {
    node = joins.next(node, codeAt(text, to));
    if (node === 0) break;
    if (joins.valuesOf(node) === undefined) continue;
    const quotes = startOfQuotes(text, to, least);
    if (best === -1 || quotes < best) best = quotes;
    const further = left > 1 ? startOfJoins(text, to, start, least, left - 1) : -1;
    if (further !== -1 && further < best) best = further;
  }
  return best;
}

/** Up to two blanks, and up to three quotes and brackets before them. */
function startOfQuotes(text: Text, end: number, least: number): number {
  let at = end;
  while (at > least && end - at < 2 && markOf(codeAt(text, at - 1)) & blankMark) at--;
  const blanks = at;
  while (at > least && blanks - at < 3 && markOf(codeAt(text, at - 1)) & quoteMark) at--;
  return at;
}

function isLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}
