// Generates values that rules should find: emails, cards, IBANs, IP and social security numbers, secrets.
import { alphanumerics, capitals, digits, letters, type Random } from "./random.ts";

const givenNames =
  "jane john maria jose li wei yuki minh ana olga ahmed fatima lars sofia piotr elif raj priya hans chloé jürgen søren".split(
    " ",
  );
const familyNames =
  "doe smith garcia müller rossi silva devries kowalski ivanova yilmaz wang tanaka kim haddad sharma nguyen dubois oconnor".split(
    " ",
  );
const hosts =
  "example.com example.org mail.example.net firma.example.de acme.co.uk beispiel.at exemple.fr ejemplo.com.mx esempio.it empresa.com.br voorbeeld.nl przyklad.pl pochta.example.ru ornek.com.tr uni-bonn.example.edu x.io a-b.example.dev mail2.example.jp company.technology".split(
    " ",
  );

export function email(random: Random): string {
  const [given, family] = [random.pick(givenNames), random.pick(familyNames)];
  const plain = (name: string) =>
    random.next() < 0.8
      ? name
          .normalize("NFD")
          .replace(/[\u0300-\u036f]/g, "")
          .replace("ø", "o")
      : name;
  const [a, b] = [plain(given), plain(family)];
  const local = random.pick([
    `${a}.${b}`,
    `${a}${b}`,
    `${a}_${b}`,
    `${a[0]}${b}`,
    `${a}-${b}`,
    `${a}+${random.pick(["news", "shop", "test1"])}`,
    `${a}.${b}${random.below(100)}`,
    `${random.below(10_000)}${a}`,
    a,
    `${a[0]}.${b[0]}.${b}`,
    `${a.toUpperCase()}.${b.toUpperCase()}`,
  ]);
  const host = random.pick(hosts);
  return `${local}@${random.next() < 0.1 ? host.toUpperCase() : host}`;
}

const issuers: [start: string, length: number][] = [
  ["4", 16],
  ["4", 16],
  ["51", 16],
  ["55", 16],
  ["2221", 16],
  ["2720", 16],
  ["34", 15],
  ["37", 15],
  ["36", 14],
  ["6011", 16],
  ["65", 16],
  ["3530", 16],
  ["62", 16],
  ["62", 19],
  ["2202", 16],
  ["5018", 16],
  ["6759", 18],
];

export function card(random: Random): string {
  const [start, length] = random.pick(issuers);
  const body = start + random.chars(length - start.length - 1, digits);
  const number = body + checkDigit(body);
  const form = random.below(5);
  if (form < 2) return number;
  const sizes = length === 15 ? [4, 6, 5] : length === 14 ? [4, 6, 4] : [4, 4, 4, 4, 4];
  const groups: string[] = [];
  for (let at = 0, part = 0; at < number.length; at += sizes[part++]!)
    groups.push(number.slice(at, at + sizes[part]!));
  return groups.join(form === 4 ? "-" : random.next() < 0.1 ? "\u00a0" : " ");
}

/** Of Luhn. */
export function checkDigit(body: string): string {
  let sum = 0;
  for (let at = 0; at < body.length; at++) {
    const digit = Number(body[body.length - 1 - at]);
    const counted = at % 2 === 0 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return String((10 - (sum % 10)) % 10);
}

/** Country, then the account: A is a letter, # a digit. */
const accounts =
  "DE################## AT################ CH##0############## FR####################AA# ES#################### IT_A###################### NLAAAA########## BE############ " +
  "GBAAAA############## PL######################## PT##################### SE#################### DK############## FI############## IEAAAA############## TR#####0################ " +
  "CZ#################### RO_AAAA################ NO########### LU################ SA#################### AE################### BR#######################A# GRaaaaaaaaaaaaaaaaaaaaaaa UAaaaaaaaaaaaaaaaaaaaaaaaaa";

export function iban(random: Random): string {
  const shape = random.pick(accounts.replaceAll("a", "#").replaceAll("_", "").split(" "));
  const country = shape.slice(0, 2);
  const account = random.shape(shape.slice(2));
  let remainder = 0;
  for (const char of `${account}${country}00`) {
    const value = Number.parseInt(char, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  const number = `${country}${String(98 - remainder).padStart(2, "0")}${account}`;
  const form = random.below(6);
  if (form < 3) return number;
  return number.match(/.{1,4}/g)!.join(form === 5 ? "-" : random.next() < 0.1 ? "\u00a0" : " ");
}

export function ip(random: Random): string {
  const part = () => random.below(256);
  const group = () => random.chars(1 + random.below(4), "0123456789abcdef");
  const form = random.below(6);
  if (form < 4) return `${1 + random.below(223)}.${part()}.${part()}.${part()}`;
  if (form === 4) return `2001:db8:${group()}:${group()}:${group()}:${group()}:${group()}:${group()}`;
  return random.pick([
    `2001:db8::${group()}`,
    `fe80::${group()}:${group()}`,
    `2a02:${group()}:${group()}::${random.below(9)}`,
    "::ffff:192.0.2.128",
  ]);
}

export function ssn(random: Random): string {
  const area = String(1 + random.below(665)).padStart(3, "0");
  return `${area}-${String(1 + random.below(99)).padStart(2, "0")}-${String(1 + random.below(9_999)).padStart(4, "0")}`;
}

const base64url = `${alphanumerics}-_`;

/** Keys and tokens of known shapes. */
export function knownKey(random: Random): string {
  const token = (size: number) => random.chars(size, alphanumerics);
  const url = (size: number) => random.chars(size, base64url);
  return random.pick([
    () => `sk-${token(48)}`,
    () => `sk-proj-${url(40)}${token(20)}`,
    () => `sk-ant-api03-${url(60)}${token(20)}`,
    () => `AKIA${random.chars(16, `${capitals}234567`)}`,
    () => `ghp_${token(36)}`,
    () => `github_pat_${token(22)}_${token(59)}`,
    () => `xoxb-${random.chars(12, digits)}-${random.chars(12, digits)}-${token(24)}`,
    () => `eyJhbGciOiJIUzI1NiJ9.eyJ${url(60)}.${url(43)}`,
    () => `svc_${token(40)}`,
    () => `AIza${url(35)}`,
    () => `sk_live_${token(24)}`,
    () => `glpat-${token(20)}`,
    () => `hf_${token(34)}`,
    () =>
      `-----BEGIN RSA PRIVATE KEY-----\n${token(64)}\n${token(64)}\n${token(30)}==\n-----END RSA PRIVATE KEY-----`,
    () => `-----BEGIN PRIVATE KEY-----\n${token(64)}\n${token(44)}\n-----END PRIVATE KEY-----`,
  ])();
}

const words = "sunny tiger mango winter coffee purple dragon summer rocket monkey".split(" ");

export function password(random: Random): string {
  const word = random.pick(words);
  const capital = word[0]!.toUpperCase() + word.slice(1);
  return random.pick([
    () => `${capital}${1 + random.below(9_998)}!`,
    () => `${word}${100 + random.below(9_000)}`,
    () => `${capital}_${random.pick(words)}${random.below(100)}`,
    () => `${random.chars(12, `${alphanumerics}!#%&*+-?`)}a7`,
    () => `${random.chars(3, letters)}$${random.chars(3, capitals)}#${random.chars(3, digits)}`,
  ])();
}

/** Without a prefix that tells what it is. */
export function plainKey(random: Random): string {
  return random.pick([
    () => random.chars(32, "0123456789abcdef"),
    () => `${random.chars(30, alphanumerics)}7b`,
    () => `${random.chars(38, `${alphanumerics}-_`)}4k`,
    () => `${random.chars(40, `${alphanumerics}+/`)}9Qw=`,
  ])();
}
