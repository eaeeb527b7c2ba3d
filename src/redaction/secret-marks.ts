// Kinds of characters around secrets, as bits in one table.

export const openMark = 1;
export const closeMark = 2;
export const trailingMark = 4;
export const numberMark = 8;
export const jointMark = 16;
export const blankMark = 32;
export const gapMark = 64;
export const openerMark = 128;
export const quoteMark = 256;
/** The last letter of a word that says a secret follows, or of what may stand between; all letters beyond Latin. */
export const lastLetterMark = 512;
/** Between a colon or an equals sign and the value. */
export const leadMark = 1_024;

const table = new Uint16Array(65_536);
const mark = (bit: number, chars: string) => {
  for (const char of chars) table[char.charCodeAt(0)]! |= bit;
};
const blanks =
  " \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
mark(openMark, " \t\r\n\u00a0\"'`=:：<>[]{}()、。「」『』（）\\,;|→");
mark(closeMark, " \t\r\n\u00a0\"'`<>{}[]、。「」『』（）\\,;|");
mark(trailingMark, ".,:!?)");
/** After a number in prose and in JSON. */
mark(numberMark, ".,:!?)%-/");
mark(jointMark, " \t\n\u00a0\"'`*_)(\\[]=:：>");
mark(blankMark, blanks);
mark(gapMark, `${blanks}"'\`*_\\`);
mark(openerMark, "\"'`*_(\\[");
mark(quoteMark, "\"'`*_)]\\");
mark(leadMark, " \"'`*\\");
const lastLetters = "dtehacprnyosmwñзzıiàłльокéè码碼令ド証호는은호रदाuiuςعسرक्ड钥牌يでが为為是はто→";
mark(lastLetterMark, lastLetters);
mark(lastLetterMark, lastLetters.replace(/[^a-z]/g, "").toUpperCase());
for (let code = 0x250; code < table.length; code++) table[code]! |= lastLetterMark;

/** The bits of a character, by its code. */
export function markOf(code: number): number {
  return table[code]!;
}
