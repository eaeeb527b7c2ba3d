// Words before a number that say what it is: a phone number, or something that only looks like one.
import { builtInRules } from "../model/redaction.ts";
import { codeAt, type Text } from "./units.ts";
import { WordTree } from "./words.ts";

const phoneWords =
  "\\b(?:t|m|p|f)[:.]|\\btel(?:e)?f|tel\\b|tel[.:]|phone|\\bfon\\b|mobil|\\bcell|\\bcall|\\bfax|whats ?app|signal|\\bsms\\b|\\btext (?:me|us)|\\bring\\b|hotline|handy|rufnummer|ruf|erreich|anruf|durchwahl|m[óo]vil|ll[áa]m|celular|t[ée]l[ée]ph|portable|appel|joindre|cellulare|chiama|numero di|ligue|ligar|\\bbel\\b|bellen|mobiel|nummer is|zadzwo|kom[óo]rk|dzwoni|тел|звон|позвон|моб|номер|电话|手机|致电|聯絡|联系|電話番号|携帯|連絡|電話|전화번호|전화|휴대|연락|핸드폰|هاتف|جوال|اتصل|موبايل|رقم|फ़?ोन|मोबाइल|नंबर|कॉल|telefon|\\bcep\\b|ara(?:y|ma)|điện thoại|gọi|liên hệ|sđt|hubungi|nomor|ponsel|\\bhp\\b|τηλ|κινητ|puhelin|soita|mobilnum|☎|📞|📱";

/** What other words hold (`port` in support, `lon` in London, `ordina` in coordinator) counts only where a word begins, or as a whole. */
const otherWords =
  "(?:\\b|_)(?:order|track|version|serial|batch|hash|refs?(?:\\b|_)|referen|refn|account(?:s?\\b|_|id|n[ou])|(?:build|port|commit|coord|coordinate)s?(?:\\b|_)|total(?:s|e|es)?\\b|amount|lat(?:\\b|l|itude)|lon(?:\\b|l|gitude)|lng\\b|auftrag|faktur|fatura|pedido|(?:factura|env[íi]o|commande|facture|importe|precio|montant)s?\\b|client(?:e|es|i|s)?\\b|colis\\b|ordin(?:e|i|azion[ei])\\b|fattur[ae]\\b|prix\\b)|invoice|ticket|\\bcase\\b|shipment|isbn|issn|\\bean\\b|\\bupc\\b|\\bsku\\b|\\bpart\\b|passport|acct|customer|\\bid\\b|\\bids\\b|bestell?(?:ung|ing|n|-n)|rechnung|kunden(?:n|-n|id|-id)|sendung|konto(?:\\b|n|-n|id)|artikel|factuur|klant(?:\\b|n|-n)|zam[óo]w|заказ|счёт|счет|订单|編號|编号|注文|주문|طلب|ऑर्डर|sipari|đơn hàng|pesanan|\\bpin\\b|\\bzip\\b|postal|\\bplz\\b|timestamp|\\btime\\b|\\bdate\\b|epoch|bytes|\\bsize\\b|\\btoken|price|\\bsum\\b|betrag|preis";

/** Say that it is no phone number, unless a person's or a phone's. */
const numberWords = "number|\\bno[.:]|\\bnr\\b|\\bn[.º°]|#|番号|번호";

/** Where people are called: what they hold of the words above says nothing of the number. */
const deskWords =
  "support|help ?desk|(?:customer|client) (?:service|care)|account (?:manager|executive)|services? clients?|relations? clients?|(?:servicio|atenci[óo]n) al cliente|servizio clienti|(?:atendimento|servi[çc]o) ao cliente|заказать|заказчик";

const words = new WordTree<"phone" | "other" | "number" | "desk">([
  { words: phoneWords, value: "phone" },
  { words: otherWords, value: "other" },
  { words: numberWords, value: "number" },
  { words: deskWords, value: "desk" },
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
  #deskEnd = -1;
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
    const other = this.#otherStart >= least && this.#otherEnd > this.#deskEnd ? this.#otherEnd : -1;
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
    this.#deskEnd = -1;
    this.#close = -1;
    this.#open = -1;
    for (let from = least; from < start; from++) {
      const code = codeAt(text, from);
      const kind = kinds[code]!;
      if (kind === 0) continue;
      if (kind === wordKind) {
        if (from >= since) this.#wordAt(from, start, least);
      } else if (code === 0x27e6) this.#open = from;
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
        if (value === "desk") this.#deskEnd = Math.max(to, this.#deskEnd);
        else if (value === "phone" || (value === "number" && isOfPhone(text, from, to, least))) {
          if (to < this.#phoneEnd) continue;
          this.#phoneStart = from;
          this.#phoneEnd = to;
        } else if (to >= this.#otherEnd) {
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
for (const code of [0x27e6, 0x27e7]) kinds[code] = bracketKind;

const placeholder = /^⟦([a-z0-9_-]{1,32})⟧$/;

function isBuiltIn(name: string): boolean {
  return (builtInRules as readonly string[]).includes(name);
}

/** `my number`, `your new number`, `phone number`, `mobile no.`, `Tel.-Nr.` */
function isOfPhone(text: Text, start: number, end: number, least: number): boolean {
  return personalNumber.test(text.slice(least, end)) || phoneName.test(text.slice(least, start));
}

const personalNumber = /(?:my|your|our|his|her|new|contact) (?:\w+ )?number$/iu;
const phoneName =
  /(?:(?:phone|t[ée]l[ée](?:f|ph)|\bmobil|\bmobiel|m[óo]vil|\bcell|celular|\bfax|whats ?app|handy|hotline|portable|puhelin|携帯|휴대|핸드폰|contact|support|help ?(?:line|desk)|call-?back)\p{L}{0,40}|\b(?:t[ée]l|ph|mob)|customer (?:service|care))[\s._:/()-]{0,3}$/iu;

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
