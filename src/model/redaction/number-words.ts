// Words before a number that say what it is: a phone number, or something that only looks like one.
import { builtInRules } from "./rules.ts";
import { codeAt, type Text } from "./units.ts";
import { WordTree } from "./words.ts";

const phoneWords =
  "\\b(?:t|m|p|f)[:.]|\\btel(?:e)?f|tel\\b|tel[.:]|phone|\\bfon\\b|mobil|\\bcell|\\bcall|\\bfax|whats ?app|signal|\\bsms\\b|\\btext (?:me|us)|\\bring\\b|hotline|handy|rufnummer|ruf|erreich|anruf|durchwahl|m[óo]vil|ll[áa]m|celular|t[ée]l[ée]ph|portable|appel|joindre|cellulare|chiama|numero di|ligue|ligar|\\bbel\\b|bellen|mobiel|nummer is|zadzwo|kom[óo]rk|dzwoni|тел|звон|позвон|моб|номер|电话|手机|致电|聯絡|联系|電話番号|携帯|連絡|電話|전화번호|전화|휴대|연락|핸드폰|هاتف|جوال|اتصل|موبايل|رقم|फ़?ोन|मोबाइल|नंबर|कॉल|telefon|\\bcep\\b|ara(?:y|ma)|điện thoại|gọi|liên hệ|sđt|hubungi|nomor|ponsel|\\bhp\\b|τηλ|κινητ|puhelin|soita|mobilnum|☎|📞|📱";

const otherWords =
  "order|invoice|\\bref|ticket|\\bcase\\b|track|shipment|isbn|issn|\\bean\\b|\\bupc\\b|\\bsku\\b|\\bpart\\b|serial|account|acct|customer|\\bid\\b|\\bids\\b|\\bno[.:]|\\bnr\\b|\\bn[.º°]|#|bestell|rechnung|auftrag|kunden|sendung|konto|artikel|pedido|factura|env[íi]o|commande|facture|client|colis|ordine|fattura|ordina|bestel|factuur|klant|zam[óo]w|faktur|заказ|счёт|счет|订单|編號|编号|注文|番号|주문|번호|طلب|ऑर्डर|sipari|fatura|đơn hàng|pesanan|version|build|port|\\bpin\\b|\\bzip\\b|postal|\\bplz\\b|commit|hash|\\blat|\\blon|coord|batch|timestamp|\\btime\\b|\\bdate\\b|epoch|bytes|\\bsize\\b|\\btoken|price|total|amount|\\bsum\\b|betrag|preis|importe|precio|montant|prix";

const words = new WordTree<"phone" | "other" | "number">([
  { words: phoneWords, value: "phone" },
  { words: otherWords, value: "other" },
  { words: "number", value: "number" },
]);

/** How far back a word counts. */
const reach = 36;

/**
 * The words before the numbers of one run of digits. They are looked for once: within the run no further ones can stand, and
 * only those within reach of each number count.
 */
export class WordsBefore {
  readonly #text: Text;
  /** The last word that says a phone number, and the last that says anything else. */
  #phoneStart = -1;
  #phoneEnd = -1;
  #otherStart = -1;
  #otherEnd = -1;
  /** The last closing bracket, and the rule whose placeholder it ends. */
  #close = -1;
  #open = -1;
  #rule = "";
  #isRead = false;

  constructor(text: Text) {
    this.#text = text;
  }

  /** For the next run of digits. */
  forget(): void {
    this.#isRead = false;
  }

  /**
   * The nearest word before `start` decides: 1 if it says a phone number, -1 if it says anything else, 0 if there is none. Only
   * words since the last value that was found count, or since its placeholder: one phone number is often followed by another.
   */
  at(start: number, since: number, isAfterPhone: boolean): -1 | 0 | 1 {
    if (!this.#isRead) this.#read(start, Math.max(0, start - reach), since);
    let least = Math.max(since, start - reach, 0);
    let isAfter = isAfterPhone && since > start - reach;
    if (this.#close >= least) {
      const rule = this.#open >= least ? this.#rule : "";
      if (rule !== "" && !isBuiltIn(rule)) return -1;
      isAfter = rule === "phone";
      least = this.#close + 1;
    }
    const phone = this.#phoneStart >= least ? this.#phoneEnd : -1;
    const other = this.#otherStart >= least ? this.#otherEnd : -1;
    if (phone === -1 && other === -1) return isAfter ? 1 : 0;
    return phone >= other ? 1 : -1;
  }

  /** Words before `since` count for none of the run; placeholders before it may. */
  #read(start: number, least: number, since: number): void {
    const text = this.#text;
    this.#isRead = true;
    this.#phoneStart = -1;
    this.#phoneEnd = -1;
    this.#otherStart = -1;
    this.#otherEnd = -1;
    this.#close = -1;
    this.#open = -1;
    for (let from = least; from < start; from++) {
      const code = codeAt(text, from);
      const kind = kinds[code]!;
      if (kind === 0) continue;
      if (kind === wordKind) {
        if (from >= since) this.#wordAt(from, start, least);
      } else if (code === 91) this.#open = from;
      else {
        this.#close = from;
        const name = this.#open === -1 ? null : placeholder.exec(text.slice(this.#open, from + 1));
        this.#rule = name?.[1] ?? "";
      }
    }
  }

  /** Of the words that begin here, the longest before the number counts. */
  #wordAt(from: number, start: number, least: number): void {
    const text = this.#text;
    let node = 0;
    for (let at = from; at < start; at++) {
      node = words.next(node, codeAt(text, at));
      if (node === 0) return;
      if (words.valuesOf(node) === undefined) continue;
      const to = at + 1;
      for (const value of words.endingAt(text, node, from, to, start)) {
        const isPhone = value === "phone" || (value === "number" && isOfPerson(text, from, least));
        if (isPhone && to >= this.#phoneEnd) {
          this.#phoneStart = from;
          this.#phoneEnd = to;
        }
        if (value !== "phone" && to >= this.#otherEnd) {
          this.#otherStart = from;
          this.#otherEnd = to;
        }
      }
    }
  }
}

/** Of the characters that begin a word, and of brackets. */
const kinds = new Uint8Array(65_536);
const [wordKind, bracketKind] = [1, 2];
for (let code = 0; code < kinds.length; code++) if (words.begins(code)) kinds[code] = wordKind;
for (const code of [91, 93]) kinds[code] = bracketKind;

const placeholder = /^\[([a-z0-9_-]{1,32})\]$/;

function isBuiltIn(name: string): boolean {
  return (builtInRules as readonly string[]).includes(name);
}

/** `my number`, `your new number`. */
function isOfPerson(text: Text, start: number, least: number): boolean {
  return /(?:my|your|our|his|her|new|contact) (?:\w+ )?$/iu.test(text.slice(least, start));
}

export function saysSsn(text: Text, start: number, since: number): boolean {
  return /\bssn\b|social|\bss ?#|taxpayer|\btin\b/i.test(saidBefore(text, start, since));
}

/** Whether words before say that a number is a card. */
export function saysCard(text: Text, start: number, since: number): boolean {
  return cardWords.test(saidBefore(text, start, since));
}

const cardWords = /card|karte|tarjeta|carte|carta|kaart|visa|master|amex|cartão|kart|карт|卡|カード|카드/i;

function saidBefore(text: Text, start: number, since: number): string {
  const said = text.slice(Math.max(since, start - reach, 0), start);
  return said.slice(said.lastIndexOf("]") + 1);
}
