// Words before and after numbers that say what these are, in the languages of conversations: data, and how it is written.
//
// A word counts where a word begins, whatever follows it: `telefon` stands for Telefonnummer, too. With `!` at its end it is a
// whole word. Scripts without blanks, and those that write articles and prepositions in one with the word, have it anywhere.

/** `number`: says that a number follows, but not of what. */
export type Kind = "phone" | "ssn" | "card" | "version" | "other" | "number";

export const words: Readonly<Record<Kind, string>> = {
  phone: `
    customer_service customer_support kundendienst klantenservice service_client servicio_al_cliente atención_al_cliente servizio_clienti
    tel! tel. tel: telef telf tlf! teléf telep télép telé tél! mobil móvil movil móvel mobiel cell! cell- cellphone cells cellul
    celular phone ph! ph. mob! mob. fon! fone call! call- calling called callback fax whatsapp whats_app signal! telegram sms! text_me text_us
    ring! ring_me dial reach contact hotline handy rufnummer ruf! rufen anruf rückruf zurückruf ruf_mich erreich durchwahl festnetz portable joindre
    joignable appel rappel appelez contactez llám llam contacto fijo ligar ligue liga! ligação contato contactar cellulare chiama
    richiama recapito bel! bellen bel_me bereikbaar zadzwo dzwoni oddzwo kom! komór komórk тел! тел. телеф звон позвон перезвон моб! моб.
    мобил мобіл дзвон зателефон cep! cep_ ara! aray aram arayın gsm! điện_thoại gọi! gọi_cho liên_hệ sđt! hotline hubungi ponsel hp! no_hp telpon telepon
    wa! τηλ κινητ καλέσ κάλεσ puhelin puh! puh. soita soittakaa ring_mig ringa kontakt zavol volej volat 
    फ़ोन फोन फ़ोन मोबाइल कॉल संपर्क
    電話 电话 電聯 手机 手機 致电 致電 联系 聯絡 聯繫 携帯 連絡 座机 微信 拨打 撥打 전화 휴대 연락 핸드폰 문자 هاتف جوال اتصل اتصال موبايل تلفون محمول واتس
    ☎ 📞 📱
    my_number my_new_number my_personal_number your_number our_number his_number her_number new_number reach_me
    meine_nummer meine_neue_nummer mi_número mi_numero mon_numéro mio_numero meu_número meu_numero mijn_nummer mój_numer mojego_numeru мой_номер мій_номер
    मेरा_नंबर رقمي numaram nomor_saya nomorku số_của_tôi mitt_nummer mé_číslo moje_číslo numeroni 私の番号 我的号码 我的號碼 제_번호 내_번호`,
  ssn: `
    ssn ss#! ss_number social! social_security taxpayer tin! sozialversicherung us-sozial sécurité_sociale securite_sociale
    seguro_social seguridad_social segurança_social seguranca_social seguridade_social previdenza_sociale sicurezza_sociale previdência_social
    sociale_zekerheid ubezpieczenia_społecz zabezpieczenia_społecz sosyal_güvenlik соцстрах социального_страхов социального_обеспеч социального_забезп соціального_страхув соціального_забезп
    sociálního_zabezp sociálního_poj socialförsäkring sosiaaliturva κοινωνικής_ασφάλισης an_sinh_xã_hội bảo_hiểm_xã_hội jaminan_sosial
    社会保障 社會保障 社会安全 社會安全 社保号 ソーシャルセキュリティ 사회보장 सामाजिक_सुरक्षा الضمان_الاجتماعي التأمين_الاجتماعي`,
  card: `
    card karte kreditkart kart! karta karty kartı kartım kartu tarjeta cartão cartao carte! carte_ carta! kaart kort! kortet kortti luottokort visa mastercard maestro amex american_express
    карт κάρτα 卡 カード 카드 कार्ड بطاقة thẻ`,
  version: `
    version ver! ver. v! v. release build! builds! firmware upgraded_from upgraded_to upgrade_from upgrade_to upgrading_from update_to updated_to updated_from downgrade section sect. sec. clause chapter paragraph appendix figure kapitel
    abschnitt ziffer versionsnummer sección seccion capítulo capitulo apartado versión seção secao secção versão versao sezione capitolo paragrafo
    versione chapitre article versie hoofdstuk paragraaf wersj rozdzia sekcj punkt! punkcie версі верси раздел глава п. пункт sürüm bölüm versiyon phiên_bản mục
    chương versi! bab! verze verzi kapitola oddíl kapitlet avsnitt versio luku kohta έκδοσ ενότητα κεφάλαιο संस्करण अनुभाग वर्जन वर्शन
    dokument! rapport! kernel! zlib! openssl! glibc! gcc! 문서
    § 版本 版 第 章 节 節 条 절 장 항 バージョン 버전 إصدار الإصدار نسخة القسم الفصل`,
  other: `
    order orders! purchase invoice bill! receipt ref! ref. ref: refs! referen refn reservation booking bookings! pnr! ticket case! case_ claim claims! policy polic tracking track! shipment parcel waybill consignment isbn issn ean! upc! sku! gtin barcode
    loan rx! ndc! mrn! suite part! part_ part# serial s/n sn! imei imsi iccid vin! model! article account! accounts! account_ accountn accountid acct! routing aba! iban bic! swift sort_code customer client! client_ member membership id! ids! user_id uid! uuid pid! passport licen permit
    ein! vat! tax_id abn! zip! plz! postal postcode postleitzahl pin! code! code_ otp! build! builds! version commit! commits! hash port! ports! lat! latit lon! longit lng! coord coordinate
    batch lot! timestamp time! date! epoch bytes size! token tokens! price total! totals! amount sum! subtotal score rows! row! contract material request job! task run! incident issue bug! pr! rfc tool_call function_call
    bestell rechnung auftrag kunden sendung kontonr kontonum konto! kto! artikel vorgang aktenzeichen az! fall! vertrag mitglied patient personal! steuer ust ust-id blz! seriennummer betrag preis summe charge! buchung tickets! zeile posten
    matrikel versicherungs kennzeichen pedido factura envío envio seguimiento guía cuenta cliente! contrato expediente dni! nif! nie! cif! cuit rut! curp! rfc! póliza importe precio serie código codigo reserva albarán lote ticket!
    commande facture colis suivi compte dossier contrat siret siren tva! série serie référence reference réservation billet montant prix abonné adhérent
    ordine ordini fattura fatture spedizione conto! contratto codice partita p.iva pratica prenotazione importo prezzo cliente cf! tessera matricola
    encomenda nota_fiscal fatura conta! cpf! cnpj! cep: nif! nis! nº_do protocolo rastreio boleto preço valor contribuinte utente matrícula
    factuur klant bestelling bestel zending rekening! rekeningn lidmaatschap lidnummer bsn! kvk! btw! ordernummer dossiernummer polis kenmerk bedrag prijs
    zamów faktur paczk przesył konto! kont! umow pesel nip! regon krs! sprawy zgłosz rachun numer_serii seryjn kwot cen! cena
    заказ заказа счёт счет счёта накладн посылк трек договор инн! кпп! огрн снилс паспорт серийн артикул клиент заявк обращен код! сумма цена полис лицев
    замовл рахун посилк договір іпн! єдрпоу паспорт звернен сума
    sipariş fatura kargo müşteri hesap tc! kimlik takip talep bilet üye sözleşme tutar fiyat vergi posta
    đơn_hàng mã! hóa_đơn vận_đơn tài_khoản cmnd! cccd! mst! hợp_đồng biên_lai khách_hàng 
    pesanan tagihan resi! rekening nik! npwp faktur invois pelanggan tiket kontrak
    objedn faktura fakt zásilk účet ič! ičo dič smlouv rodné zákazn variabilní
    beställning best! orderns ordern faktura kund personnummer org konto! ocr! ärende paket kollinummer tilaus lasku asiakas viite tili! henkilötunnus y-tunnus lähetys
    παραγγελ τιμολόγ αφμ! αμκα πελάτ λογαριασμ κωδικ φακέλ
    ऑर्डर चालान इनवॉइस खाता आधार ग्राहक ट्रैकिंग पैन पिन शिकायत टिकट बुकिंग
    طلب الطلب فاتورة حساب شحنة تتبع عميل هوية الهوية جواز سجل تذكرة عقد بوليصة الرقم_القومي رمز
    订单 訂單 编号 編號 单号 單號 快递 快遞 身份证 身分證 护照 護照 账号 帳號 账户 帳戶 发票 發票 客户 客戶 会员 會員 统一 統一 序列 批次 工单 工單 合同 金额 邮编
    注文 会員 伝票 請求 口座 追跡 製造 契約 予約 顧客 お客様番号 受付 問い合わせ番号 管理番号 マイナンバー 型番 品番 郵便 整理番号 登録 証券 免許 シリアル
    주문 송장 계좌 회원 고객 사업자 등록 예약 접수 주민 운송장 작업 계약 우편 여권 관리번호 일련`,
  number: `
    number numbers no! no. nr! nr. n. n° nº № # num! nummer numer numéro numero número номер номера číslo numero αριθμ numara nomor số!
    番号 号码 號碼 号 번호 नंबर رقم`,
};
