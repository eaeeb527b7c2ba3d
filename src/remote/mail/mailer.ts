// Sends email by SMTP; without a mail server, writes it to the outbox and logs its link.
import { hash, randomBytes } from "node:crypto";
import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import type { Logger } from "pino";
import { makeFolders } from "../../embedded/make-folders.ts";
import { Refusal } from "../../model/refusal.ts";

export type Mail = {
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** The link in the email, which is logged if there is no mail server. */
  link?: string;
  /** Makes the Message-ID; an email that is sent again with the same id can be recognized. */
  id?: string;
  /** A URL that turns such emails off when it is opened, or without a page when it is posted to (RFC 8058). */
  unsubscribe?: string;
};

export type Mailer = {
  /** Resolves once the mail server has accepted the email, or it is on disk; otherwise rejects with `UNAVAILABLE`. */
  send(mail: Mail): Promise<void>;
  /** Deletes the emails to this address from this process's outbox; does nothing with a mail server. */
  forget(to: string): Promise<void>;
  close(): void;
};

export type MailerConfig = {
  /** `smtp://` or `smtps://`, with user and password if needed; absent without a mail server. */
  smtpUrl: string | null | undefined;
  /** The sender, as in `Onlooker <noreply@example.com>`. */
  from: string;
  /** The folder for emails if there is no mail server; created when first needed. */
  outboxDir: string;
  log: Pick<Logger, "info">;
};

/** Creates the mailer; it connects with the first email. */
export function openMailer({ smtpUrl, from, outboxDir, log }: MailerConfig): Mailer {
  const deliver = smtpUrl ? bySmtp(from, smtpUrl) : toOutbox(from, outboxDir, log);
  return {
    async send(mail) {
      await deliver.send(mail).catch(cause => {
        throw new Refusal("UNAVAILABLE", {
          message: "The email could not be sent.",
          hint: "Try again in a minute.",
          retryAfterSeconds: 60,
          cause,
        });
      });
    },
    forget: deliver.forget,
    close: deliver.close,
  };
}

function bySmtp(from: string, url: string): Mailer {
  const transport = createTransport({
    url,
    pool: true,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      await transport.sendMail({ ...message(from, mail), signal: AbortSignal.timeout(30_000) });
    },
    async forget() {},
    close: () => transport.close(),
  };
}

function toOutbox(from: string, dir: string, log: Pick<Logger, "info">): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  let written = 0;
  return {
    async send(mail) {
      const { message: eml } = await transport.sendMail(message(from, mail));
      written += 1;
      const file = join(dir, outboxName(new Date(), written, mail.to));
      makeFolders(dir, 0o700);
      // Renamed into place, so that a program that watches the folder never reads half an email.
      await writeFile(`${file}.part`, eml, { mode: 0o600, flag: "wx" });
      await rename(`${file}.part`, file);
      const link = mail.link === undefined ? "" : `; its link: ${mail.link}`;
      log.info(
        { file },
        `No mail server configured: "${mail.subject}" to ${mail.to} was written to the outbox${link}`,
      );
    },
    async forget(to) {
      const names = await readdir(dir).catch(() => []); // not created yet
      const theirs = names.filter(name => name.endsWith(`-${recipientHash(to)}.eml`));
      await Promise.all(theirs.map(name => rm(join(dir, name), { force: true })));
    },
    close: () => transport.close(),
  };
}

// Sorting by name sorts by time, even within a millisecond; the random part keeps names of several processes apart, and the
// hash finds the emails of an account.
function outboxName(at: Date, count: number, to: string): string {
  const time = at.toISOString().replace(/[-:.]/g, "");
  const random = randomBytes(4).toString("hex");
  return `${time}-${String(count).padStart(6, "0")}-${random}-${recipientHash(to)}.eml`;
}

function recipientHash(to: string): string {
  return hash("sha256", to.toLowerCase()).slice(0, 16);
}

// The address is passed as an object, so that a comma in it cannot add a second recipient.
function message(from: string, { to, subject, text, html, id, unsubscribe }: Mail) {
  return {
    from,
    ...(id !== undefined && { messageId: `<${id}@${/@([^\s>]+)/.exec(from)?.[1] ?? "onlooker"}>` }),
    ...(unsubscribe !== undefined && { list: { unsubscribe: { url: unsubscribe } } }),
    to: { name: "", address: to },
    subject,
    text,
    html,
    textEncoding: "quoted-printable" as const,
    headers: {
      "Auto-Submitted": "auto-generated",
      ...(unsubscribe !== undefined && { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
    },
  };
}
