// Words before a number that say what it is: a phone number, or something that only looks like one.
import { builtInRules } from "./rules.ts";

const phoneWords =
  /(?:\b(?:t|m|p|f)[:.]|\btele?f|tel\b|tel[.:]|phone|\bfon\b|mobil|\bcell|\bcall|\bfax|whats ?app|signal|\bsms\b|\btext (?:me|us)|\bring\b|hotline|(?:my|your|our|his|her|new|contact) (?:\w+ )?number|handy|rufnummer|ruf|erreich|anruf|durchwahl|m[óo]vil|ll[áa]m|celular|t[ée]l[ée]ph|portable|appel|joindre|cellulare|chiama|numero di|ligue|ligar|\bbel\b|bellen|mobiel|nummer is|zadzwo|kom[óo]rk|dzwoni|тел|звон|позвон|моб|номер|电话|手机|致电|聯絡|联系|電話番号|携帯|連絡|電話|전화번호|전화|휴대|연락|핸드폰|هاتف|جوال|اتصل|موبايل|رقم|फ़?ोन|मोबाइल|नंबर|कॉल|telefon|\bcep\b|ara(?:y|ma)|điện thoại|gọi|liên hệ|sđt|hubungi|nomor|ponsel|\bhp\b|τηλ|κινητ|puhelin|soita|mobilnum|☎|📞|📱)/giu;

const otherWords =
  /(?:order|invoice|\bref|ticket|\bcase\b|track|shipment|isbn|issn|\bean\b|\bupc\b|\bsku\b|\bpart\b|serial|account|acct|customer|\bid\b|\bids\b|\bno[.:]|\bnr\b|\bn[.º°]|number|#|bestell|rechnung|auftrag|kunden|sendung|konto|artikel|pedido|factura|env[íi]o|commande|facture|client|colis|ordine|fattura|ordina|bestel|factuur|klant|zam[óo]w|faktur|заказ|счёт|счет|订单|編號|编号|注文|番号|주문|번호|طلب|ऑर्डर|sipari|fatura|đơn hàng|pesanan|version|build|port|\bpin\b|\bzip\b|postal|\bplz\b|commit|hash|\blat|\blon|coord|batch|timestamp|\btime\b|\bdate\b|epoch|bytes|\bsize\b|\btoken|price|total|amount|\bsum\b|betrag|preis|importe|precio|montant|prix)/giu;

/** How far back a word counts. */
const reach = 36;

/**
 * The nearest word decides: 1 if it says a phone number, -1 if it says anything else, 0 if there is none. Only words since
 * the last value that was found count, or since its placeholder: one phone number is often followed by another.
 */
export function wordsBefore(text: string, start: number, since: number, isAfterPhone: boolean): -1 | 0 | 1 {
  let said = text.slice(Math.max(since, start - reach, 0), start);
  let isAfter = isAfterPhone && since > start - reach;
  const close = said.lastIndexOf("]");
  if (close !== -1) {
    const name = placeholder.exec(said.slice(0, close + 1))?.[1];
    if (name !== undefined && !isBuiltIn(name)) return -1;
    isAfter = name === "phone";
    said = said.slice(close + 1);
  }
  const [phone, other] = [lastIn(said, phoneWords), lastIn(said, otherWords)];
  if (phone === -1 && other === -1) return isAfter ? 1 : 0;
  return phone >= other ? 1 : -1;
}

const placeholder = /\[([a-z0-9_-]{1,32})\]$/;

function isBuiltIn(name: string): boolean {
  return (builtInRules as readonly string[]).includes(name);
}

/** Where the last match ends; -1 if there is none. */
function lastIn(said: string, words: RegExp): number {
  let last = -1;
  for (const { index, 0: all } of said.matchAll(words)) last = index + all.length;
  return last;
}

export function saysSsn(text: string, start: number, since: number): boolean {
  return /\bssn\b|social|\bss ?#|taxpayer|\btin\b/i.test(saidBefore(text, start, since));
}

/** Whether words before say that a number is a card. */
export function saysCard(text: string, start: number, since: number): boolean {
  return cardWords.test(saidBefore(text, start, since));
}

const cardWords = /card|karte|tarjeta|carte|carta|kaart|visa|master|amex|cartão|kart|карт|卡|カード|카드/i;

function saidBefore(text: string, start: number, since: number): string {
  const said = text.slice(Math.max(since, start - reach, 0), start);
  return said.slice(said.lastIndexOf("]") + 1);
}
