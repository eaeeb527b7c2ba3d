// Finds secrets: keys of known shapes, and values after words such as password and api_key, in prose, settings and keys of fields.
import type { Finding, Scan } from "./context.ts";

type Place = { start: number; end: number };

/** In braces: the two characters by which each is found, which are rare elsewhere. */
export const passwords = [
  "pa{ss}(?:word|wort|phrase|wd)[se]{0,2}",
  "(?<![a-z])pa{ss}(?:code|key)?",
  "{pw}d",
  "{ps}wd",
  "(?<![a-z]){pw}(?![a-z])",
  "ke{nn}wort(?:s|es)?",
  "con{tr}ase[ñn]a",
  "(?<![a-z]){cl}ave",
  "se{nh}as?",
  "palavra-pa{ss}e",
  "mots? de {pa}sse",
  "(?<![a-z]){md}p",
  "wach{tw}oord",
  "ha{sł}(?:o|em|a)",
  "(?<![a-z])ha{sl}o",
  "l[öo]seno{rd}(?:et)?",
  "[şs]i{fr}e(?:m|n|si|niz|miz)?",
  "{pa}rola(?:m|n|s[ıi]|n[ıi]z|m[ıi]z)?",
  "па{ро}л[ьяюі]",
  "{密码}",
  "{密碼}",
  "{口令}",
  "パス{ワー}ド",
  "{暗証}番号",
  "{비밀}번호",
  "{암호}",
  "كلمة ال{مر}ور",
  "كلمة ال{سر}",
  "पा{सव}र्ड",
  "{mậ}t khẩu",
  "{ka}ta sandi",
  "sala{sa}na(?:ni|si)?",
  "{κω}δικ(?:ός|ό)(?: πρόσβασης)?",
  "{συ}νθηματικό",
  "(?<![a-z])he{sl}o",
  "identified {by}",
];
export const keys = [
  "se{cr}et(?:[ _-]?(?:key|access[ _-]?key|token))?",
  "(?:api|access|auth|private|signing|encryption|client|account|master|shared|service|app)[ _-]?k{ey}",
  "api[ _-]?{sc}hl[üu]ssel",
  "t{ok}en",
  "{cr}edentials?",
  "cl[ée] {ap}i",
  "cl[ée] se{cr}[èe]te",
  "clave (?:de )?{ap}i",
  "chave (?:da |de )?{ap}i",
  "{кл}юч(?: api)?",
  "{то}кен",
  "{密钥}",
  "{密鑰}",
  "{令牌}",
  "(?:api|アクセス){キー}",
  "ト{ーク}ン",
  "{토큰}",
  "api {키}",
  "klucz {ap}i",
];
export const knownKeys = [
  "s{k-}(?=[\\w-]{0,40}\\d)(?=[\\w-]{0,40}[A-Za-z0-9]{12})[\\w-]{16,300}",
  "sv{c_}[A-Za-z0-9]{32,200}",
  "github_pa{t_}\\w{22,255}",
  ..."pousr".split("").map(kind => `gh{${kind}_}[A-Za-z0-9]{20,255}`),
  ..."baprse".split("").map(kind => `xox{${kind}-}[A-Za-z0-9-]{10,255}`),
  "xap{p-}[A-Za-z0-9-]{10,255}",
  "[sr]k_liv{e_}[A-Za-z0-9+/=]{10,255}",
  "[sr]k_tes{t_}[A-Za-z0-9+/=]{10,255}",
  "whse{c_}[A-Za-z0-9+/=]{10,255}",
  "glpa{t-}[\\w-]{20,255}",
  "gl{sa}_[A-Za-z0-9]{32}_[\\da-f]{8}",
  "NR{AK}-[A-Z0-9]{27}",
  "sb{p_}[\\da-f]{40}",
  "nf{p_}[A-Za-z0-9]{36,60}",
  "ph{x_}[A-Za-z0-9]{40,60}",
  "xa{i-}[A-Za-z0-9]{60,100}",
  "CFPA{T-}[\\w-]{40,60}",
  "dp\\.s{t.}[\\w.-]{40,80}",
  "np{m_}[A-Za-z0-9]{36}",
  "h{f_}[A-Za-z0-9]{30,100}",
  "pyp{i-}[\\w-]{50,500}",
  "dop_v{1_}[\\da-f]{64}",
  "gs{k_}[A-Za-z0-9]{40,100}",
  "r{8_}[A-Za-z0-9]{37}",
  "lin_ap{i_}[A-Za-z0-9]{32,64}",
  ...["shpa{t_}", "shpc{a_}", "shpp{a_}", "shps{s_}"].map(prefix => `${prefix}[\\da-f]{32}`),
  "{SK}[\\da-f]{32}",
  "ke{y-}[\\da-f]{32}",
  "da{pi}[\\da-f]{32}",
  "sq0{at}p-[\\w-]{22}",
  "sq0{cs}p-[\\w-]{43}",
  "xke{ys}ib-[\\da-f]{64}-\\w{16}",
  "AGE-SECRE{T-}KEY-1[A-Z0-9]{50,60}",
  "AT{AT}T3x[\\w=-]{20,255}",
  "nvap{i-}[\\w-]{30,100}",
  "ppl{x-}[A-Za-z0-9]{30,100}",
  "tvl{y-}[\\w-]{20,60}",
  "fig{d_}[\\w-]{30,60}",
  "PM{AK}-[\\da-f]{24}-[\\da-f]{34}",
  "nt{n_}[A-Za-z0-9]{40,60}",
  "sntry{s_}[\\w=/+-]{30,300}",
  "LT{AI}[A-Za-z0-9]{16,22}(?![A-Za-z0-9])",
  "hooks\\.sla{ck}\\.com/services/\\w+/\\w+/\\w+",
  "dckr_pa{t_}[\\w-]{20,60}",
  "hv{s.}[\\w-]{24,200}",
  "y{a2}9\\.[\\w-]{20,400}",
  "{SG}\\.[\\w-]{16,32}\\.[\\w-]{16,64}",
  "{GO}CSPX-[\\w-]{20,40}",
  "AK{IA}[A-Z0-9]{16}(?![A-Za-z0-9])",
  "AS{IA}[A-Z0-9]{16}(?![A-Za-z0-9])",
  "A{Iz}a[\\w-]{35}",
  "\\d{8,10}{:A}A[\\w-]{33}",
  "e{yJ}[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*){0,3}",
];

export type Anchored = { anchor: string; before: string; after: string };

/** `pa{ss}word`: the anchor, and what is before it and from it on. */
export function anchored(words: readonly string[]): Anchored[] {
  return words.map(word => {
    const { index, 0: braced, 1: anchor } = /\{([^{},]{1,2})\}/.exec(word)!;
    const after = word.slice(index + braced.length);
    return { anchor: anchor!, before: word.slice(0, index), after: `${anchor!.replace(".", "\\.")}${after}` };
  });
}

/** Between a word and its value: signs, a verb or a colon, or only a blank. */
const signs = /[:：=→—–]|=>|:=|==|- |は|が|는|은|是|为|為|है/.source;
const verbs =
  /is|was|are|to|ist|war|lautet|auf|es|est|era|était|è|é|är|er|on|это|была?|jest|je|zní|este|είναι|是|هي|هو|है|adalah|là|olarak/
    .source;
const quotes = /["'`*)\]\\]{0,3}/.source;
const signed = new RegExp(`${quotes}\\s{0,2}(?:(?:${signs})\\s{0,2}){1,2}`, "uy");
const verbal = new RegExp(`${quotes}\\s(?:${verbs}):?\\s{1,2}|\\s?[:：]\\s{1,2}`, "iuy");
const blank = new RegExp(`${quotes}\\s{1,2}`, "uy");
const word = /["'`*]?\s[^\s:：.!?;]{1,16}/y;
/** Of “the password for the router is …”. */
const wordsMax = 4;
const valuePattern =
  /(?:«[ \u00a0\u202f]|["'`(«“*\\]{0,3})([^\s"'`<>(){}[\]«»“”,;|、。「」『』（）⟦⟧\\\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{6,64})/y;
const valueEnd = /[\s"'`<>(){}[\]«»“”,;|、。「」『』（）⟦⟧\\\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;
/** In every password and key, and mostly in nothing that is said after such a word. */
const telling = /[\d!@#$%^&*+=?~]/;

/** The secret after a word that ends at `end`. */
export function secretAfter({ text }: Scan, end: number, isPassword: boolean): Finding | null {
  if (!telling.test(text.slice(end, end + 64))) return null;
  let from = endOf(signed, text, end);
  for (let at = end, words = 0; from === -1 && words <= wordsMax; words++) {
    from = endOf(verbal, text, at);
    at = endOf(word, text, at);
    if (at === -1) break;
  }
  const isElement = text[end] === ">";
  if (isElement) from = end + 1;
  const isJoined = from !== -1;
  if (!isJoined) from = endOf(blank, text, end);
  valuePattern.lastIndex = from;
  const value = from === -1 ? undefined : valuePattern.exec(text)?.[1];
  if (value === undefined) return null;
  const start = valuePattern.lastIndex - value.length;
  const isQuoted = /["'`]/.test(text[start - 1]!);
  let to = start + value.length;
  if (!isQuoted) while (/[.:?*]/.test(text[to - 1]!)) to--;
  // <password>…</password>, but not “enter <password> here”
  if (isElement && !text.startsWith("</", to)) return null;
  if (text[to] === "(" || (text[to] === "[" && !isQuoted)) return null;
  if (!looksSecret(text.slice(start, to), isPassword ? (isJoined || isQuoted ? 2 : 3) : 0)) return null;
  // The pattern reads only its beginning.
  if (value.length === 64) {
    valueEnd.lastIndex = to;
    to = valueEnd.exec(text)?.index ?? text.length;
  }
  return { rule: "secret", start, end: to };
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

const standIn =
  /^(?:[[<{*]|[$%#]\{|%[A-Z_]+%|\$[A-Za-z_]+$|(?:your|my|the)(?:[^a-z]|pass|api|secret|token|key)|change(?:[^a-z]|me|it|this)|example|redacted|xxx|https?:|s3:|file:|env[.:]|process\.|p_)|\*\*\*|…|\.\.\.|xxxx/i;

/** `kinds`: how many a password needs, of small letters, capitals, digits and anything else; 0: a key, which looks random. */
function looksSecret(value: string, kinds: number): boolean {
  if (value.length < 6 || standIn.test(value) || /^\w{1,40}=[a-z]/.test(value)) return false;
  if (kinds === 0) {
    if (value.length < 12 || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
    return entropy(value.slice(0, 64)) >= 3 && !/^[A-Za-z]+[-_./][\d.]+$/.test(value);
  }
  const own = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter(kind => kind.test(value)).length;
  if (own < kinds || /^[\d.:/-]+$/.test(value)) return false;
  if (/\d/.test(value)) return true;
  // Words and names of code, with marks between.
  return /[!@#$%^&*+=?~]/.test(value) && /[A-Za-z]/.test(value) && !/^[&$@#][A-Za-z_]+$/.test(value);
}

/** In bits a character. */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** What a key of a field, such as `db.password` or `apiKey`, says of its value: how many kinds of characters, as above. */
const byKey = new Map<string, number | null>();
const byKeyMax = 2_000;
const [passwordKey, tokenKey] = [passwords, keys].map(
  list =>
    new RegExp(
      `(?:${anchored(list)
        .map(({ before, after }) => before + after)
        .join("|")})$`,
      "iu",
    ),
);
const counting = /(?<![a-z])(?:max|min|num|count|input|output|total|prompt)[._-]?tokens?$/i;

function kindsByKey(key: string): number | null {
  if (key.length > 64) return null;
  let known = byKey.get(key);
  if (known === undefined) {
    const said = key.replace(/([a-z\d])([A-Z])/g, "$1_$2");
    known = passwordKey!.test(said) ? 2 : tokenKey!.test(said) && !counting.test(said) ? 0 : null;
    if (byKey.size >= byKeyMax) byKey.clear();
    byKey.set(key, known);
  }
  return known;
}

/** Whether a key says that its value is a secret. */
export function isSecretKey(key: string): boolean {
  return kindsByKey(key) !== null;
}

/** The secret that a whole text is, in a field whose key says so; null if it looks like none. */
export function secretIn(text: string, key: string): Place | null {
  const kinds = kindsByKey(key);
  if (kinds === null) return null;
  const start = text.length - text.trimStart().length;
  const value = text.trim();
  return /\s/.test(value) || !looksSecret(value, kinds) ? null : { start, end: start + value.length };
}
