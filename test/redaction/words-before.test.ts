// Words before a value that say it is something else: they count as words, not where a longer word holds them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openRedactor } from "../../src/redaction.ts";

const redactor = openRedactor({ builtIn: ["*"], rules: [], pseudonyms: [] }, value => value)!;

/** `{…}`: a value that is found. */
function isStored(texts: string[], rule: string): void {
  for (const text of texts) {
    const sent = text.replace(/[{}]/g, "");
    assert.equal(redactor.text(sent).text, text.replace(/\{.*?\}/g, `⟦${rule}⟧`), sent);
  }
}

test("an address is found after a word that only ends in one of versions", () => {
  const words =
    "server,Server:,SERVER,webServer,driver,nameserver:,the server.,rebuild,Rebuild:,intersection,conversion:".split(
      ",",
    );
  isStored(
    words.map(word => `${word} {203.0.113.7}`),
    "ip",
  );
});

test("a version stays after its word, also in a longer name", () => {
  const words =
    "version,Version:,ver,Ver.,release,build,Build:,firmware  ,app_version:,appVersion,section,Kapitel,§".split(
      ",",
    );
  isStored([...words.map(word => `${word} 10.0.19.1`), "build 10.0.19045.3324"], "ip");
});

test("a phone number is found after the number of a phone, in any language", () => {
  isStored(
    [
      "Phone number: {415-555-2671}",
      "Phone number: {5551234}",
      "phone_number={4155552671}",
      "phoneNumber: {4155552671}",
      "Telephone no. {020 7946 0958}",
      "Mobile number: {0151 23456789}",
      "Mob. no.: {98765 43210}",
      "Cell #: {415-555-2671}",
      "Contact no.: {98765 43210}",
      "Tel.-Nr.: {030 1234567}",
      "Handy-Nr. {0151 23456789}",
      "Tél n° {01 23 45 67 89}",
      "tel n. {02 12345678}",
      "携帯番号：{090-1234-5678}",
      "휴대폰 번호: {010-1234-5678}",
    ],
    "phone",
  );
});

test("a phone number is found after a word that only holds one of other numbers", () => {
  const words =
    "support:,Support number:,airport,report to,Building manager:,Committee,Coordinator:,coordonnées :,London:,call me later at,Manufacturer:,Manufaktur,Refund desk:,Accounting:,Border office:,Racetrack,Datenschutzbeauftragter:,Kundendienst:,Klantenservice:,Kontor,Customer service:,Customer support:,Service client :,Servicio al cliente:,Servizio clienti:".split(
      ",",
    );
  isStored(
    words.map(word => `${word} {415-555-2671}`),
    "phone",
  );
});

test("other numbers stay after their words", () => {
  const words =
    "Order,Order number,order_id=,purchase_order:,my order #,Invoice,ref:,reference,tracking no.,account,account_id:,accountNumber:,customer number,client,port,port number,ports,passport,build,commit,version,phone order no.,support ticket,support case number,Kundennummer:,Kunden-Nr.,Konto,Kontonr.,Auftrag,Bestellung,Bestell-Nr.,bestelnummer,klantnummer,commande,facture,pedido,ordine,colis,주문번호:,注文番号：".split(
      ",",
    );
  isStored(
    words.map(word => `${word} 0301234567`),
    "phone",
  );
  isStored(["tool call number 12345678", "tool call #12345678", "my order #12345678"], "phone");
});

test("a unit after a number is a whole word", () => {
  isStored(["{+49 30 1234567} msg me", "{415-555-2671} kgs", "+49 30 1234567 kg"], "phone");
});

test("a key that counts tokens is told from one that holds a token", () => {
  const value = "abc123def456ghi789";
  const isFound = (key: string) => redactor.text(JSON.stringify({ [key]: value })).text.includes("⟦secret⟧");
  for (const key of ["admin_token", "accountToken", "discount-token"]) assert.ok(isFound(key), key);
  for (const key of ["max_tokens", "inputTokens", "usage.total_tokens"]) assert.ok(!isFound(key), key);
});

test("a password that begins like a stand-in is found, and a stand-in is not", () => {
  isStored(["password: {MyDog2024}", "password: {Theodora1985}", "password: {Changeling7}"], "secret");
  isStored(["password: my-password1", "password: YourPassword1", "password: changeme1"], "secret");
});
