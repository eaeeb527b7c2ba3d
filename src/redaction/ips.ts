// Finds IP addresses: IPv4 by their first digit, IPv6 by their first colon.

import { before, digitOf, isDigit, isLatinOrDigit, isWordChar } from "./characters.ts";
import { blankMark, markOf } from "./secret-marks.ts";
import { codeAt, type Text } from "./units.ts";

const colon = 58;

/** The end of the IPv4 address that begins here; -1 if none does. */
export function endOfIpv4(text: Text, start: number): number {
  if (start > 0) {
    const code = codeAt(text, start - 1);
    if (isWordChar(code) || code === 46 || code === 45) return -1;
    // Chrome/120.0.0.0
    if (code === 47 && codeAt(text, start - 2) !== 47) return -1;
  }
  const end = endOfFour(text, start);
  if (end === -1) return -1;
  const next = codeAt(text, end);
  if (isWordChar(next)) return -1;
  const isJoined = next === 46 || next === 45;
  if (isJoined && isLatinOrDigit(codeAt(text, end + 1))) return -1;
  return isVersion(text, start) ? -1 : end;
}

const [gapMax, versionWordMax] = [14, 8];

/** Whether a word before says that a version or a section of a text follows. */
function isVersion(text: Text, start: number): boolean {
  let end = start;
  while (end > 0 && start - end < gapMax && isBlankOrColon(codeAt(text, end - 1))) end--;
  const code = codeAt(text, end - 1);
  if (code !== 46 && code !== 0xa7 && !isVersionEnd(code | 32)) return false;
  return versionWord.test(before(text, end, versionWordMax + 1));
}

function isBlankOrColon(code: number): boolean {
  return code === colon || (markOf(code) & blankMark) !== 0;
}

/** n r e d l */
function isVersionEnd(lower: number): boolean {
  return lower === 110 || lower === 114 || lower === 101 || lower === 100 || lower === 108;
}

/** Only as a whole word, also of `app_version` and `appVersion`: no server is a version. */
const versionWord =
  /(?:(?<![\p{L}\p{M}])|(?<=\p{Ll})(?=\p{Lu}))(?i:version|ver\.?|release|build|firmware|kapitel|chapter|section|§)$/u;

/** Four numbers up to 255 with points between. */
function endOfFour(text: Text, start: number): number {
  let at = start;
  for (let part = 0; part < 4; part++) {
    if (part > 0 && codeAt(text, at++) !== 46) return -1;
    const first = at;
    let number = 0;
    while (at - first < 4 && isDigit(codeAt(text, at))) number = number * 10 + digitOf(codeAt(text, at++));
    const length = at - first;
    if (length === 0 || length > 3 || number > 255 || (length > 1 && codeAt(text, first) === 48)) return -1;
  }
  return at;
}

/**
 * The IPv6 address with its first colon here; null if there is none. `end` is where to look on. Linear: of a run of hex digits,
 * colons and points, only the first colon is followed by a look at the rest. Only for a colon before a hex digit or a colon.
 */
export function ipv6At(text: Text, at: number): { start: number; end: number } | null {
  let start = at;
  let hasDigit = false;
  while (start > 0 && at - start < 5 && isHex(codeAt(text, start - 1))) {
    start--;
    if (isDigit(codeAt(text, start))) hasDigit = true;
  }
  if (at - start > 4) return null;
  const previous = codeAt(text, start - 1);
  if (start > 0 && (isWordChar(previous) || previous === colon || previous === 46)) return null;
  let end = at;
  let colons = 0;
  let isShort = false;
  for (; end - start < 46; end++) {
    const code = codeAt(text, end);
    if (isDigit(code)) hasDigit = true;
    else if (code === colon) {
      colons++;
      if (codeAt(text, end + 1) === colon) isShort = true;
    } else if (!isHex(code) && code !== 46) break;
  }
  // Eight groups, or six and an IPv4 address.
  if (!hasDigit || (!isShort && colons < 6)) return null;
  if (isWordChar(codeAt(text, end))) return null;
  while (end > start && codeAt(text, end - 1) === 46) end--;
  if (codeAt(text, end - 1) === colon && codeAt(text, end - 2) !== colon) end--;
  return isIpv6(text, start, end) ? { start, end } : null;
}

export function isHex(code: number): boolean {
  const lower = code | 32;
  return isDigit(code) || (lower >= 97 && lower <= 102);
}

/** Eight groups, or fewer around one `::`; the last two may be an IPv4 address. */
function isIpv6(text: Text, start: number, end: number): boolean {
  let groups = 0;
  let isShort = false;
  let hasDigit = false;
  // 10::20 may be anything, and a::b is a name.
  let isTelling = codeAt(text, start) === colon;
  let at = start;
  if (isTelling && codeAt(text, start + 1) !== colon) return false;
  while (at < end) {
    if (codeAt(text, at) === colon) {
      if (codeAt(text, at + 1) !== colon || at + 1 >= end) {
        // A single one, between two groups.
        at++;
        if (at >= end || !isHex(codeAt(text, at))) return false;
      } else {
        if (isShort) return false;
        isShort = true;
        at += 2;
        if (at < end && codeAt(text, at) === colon) return false;
      }
      if (at >= end) break;
    }
    const first = at;
    while (at < end && isHex(codeAt(text, at))) hasDigit = isDigit(codeAt(text, at++)) || hasDigit;
    if (codeAt(text, at) === 46 && at < end) {
      if (endOfFour(text, first) !== end) return false;
      groups += 2;
      hasDigit = true;
      break;
    }
    if (at === first || at - first > 4) return false;
    if (at - first >= 3) isTelling = true;
    groups++;
  }
  if (!hasDigit) return false;
  return isShort ? groups >= 1 && groups <= 7 && (isTelling || groups >= 4) : groups === 8;
}
