// What emails contain, where they go, and what happens when they cannot be sent.
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { Refusal } from "../../../src/model/refusal.ts";
import { type Mail, openMailer } from "../../../src/remote/mail/mailer.ts";
import { passwordResetMail, verificationMail } from "../../../src/remote/mail/mails.ts";
import { decoded, linkIn, startMailServer } from "../../support/mail-server.ts";

const root = await mkdtemp(join(tmpdir(), "onlooker-mail-"));
after(() => rm(root, { recursive: true }));

const from = "Onlooker <noreply@example.com>";
const link = `https://onlooker.example/verify?token=${"Ab3=".repeat(30)}&next=%2F`;
const mail = verificationMail({ to: "ada@example.com", link, validHours: 24 });

function opened(more: { smtpUrl?: string; outboxDir?: string }) {
  const lines: string[] = [];
  const log = { info: (_fields: unknown, line?: string) => lines.push(line ?? "") };
  return {
    mailer: openMailer({ smtpUrl: null, outboxDir: join(root, "unused"), from, log, ...more }),
    lines,
  };
}

const sendingFails = (send: Promise<void>) =>
  assert.rejects(send, error => {
    assert.ok(error instanceof Refusal);
    assert.equal(error.status, 503);
    assert.ok(!error.message.includes("example.com"));
    return true;
  });

suite("without a mail server", () => {
  test("an email is a file in the outbox that only its owner may read, and its link is in the log", async () => {
    const outboxDir = join(root, "data", "outbox");
    const { mailer, lines } = opened({ outboxDir });
    await mailer.send(mail);
    const [name] = await readdir(outboxDir);
    assert.match(name!, /^\d{8}T\d{9}Z-.+\.eml$/);
    assert.equal((await stat(join(outboxDir, name!))).mode & 0o777, 0o600);
    assert.equal((await stat(outboxDir)).mode & 0o777, 0o700);
    assert.equal(lines.length, 1);
    assert.ok(lines[0]!.endsWith(link));
    mailer.close();
  });

  test("the file is an RFC 5322 message with a text part, an HTML part and the full link", async () => {
    const outboxDir = join(root, "format");
    const { mailer } = opened({ outboxDir });
    await mailer.send(mail);
    const [name] = await readdir(outboxDir);
    const source = await readFile(join(outboxDir, name!), "latin1");
    const head = source.slice(0, source.indexOf("\r\n\r\n"));
    for (const field of [
      "From: Onlooker <noreply@example.com>",
      "To: ada@example.com",
      `Subject: ${mail.subject}`,
      "MIME-Version: 1.0",
      "Auto-Submitted: auto-generated",
    ]) {
      assert.ok(head.split("\r\n").includes(field), field);
    }
    assert.match(head, /^Date: /m);
    assert.match(head, /^Message-ID: <.+@example\.com>/m);
    assert.match(head, /^Content-Type: multipart\/alternative;/m);
    assert.ok(source.split("\r\n").every(line => line.length <= 998 && !line.includes("\n")));
    assert.equal(linkIn(source), link);
  });

  test("file names sort in the order of sending, also for emails sent at once", async () => {
    const outboxDir = join(root, "order");
    const { mailer } = opened({ outboxDir });
    for (let count = 0; count < 12; count += 1) await mailer.send({ ...mail, subject: `Mail ${count}` });
    await Promise.all([mailer.send(mail), mailer.send(mail)]);
    const names = (await readdir(outboxDir)).sort();
    assert.equal(names.length, 14);
    const sources = await Promise.all(
      names.slice(0, 12).map(name => readFile(join(outboxDir, name), "utf8")),
    );
    assert.deepEqual(
      sources.map(source => source.match(/^Subject: (.*)\r$/m)![1]),
      Array.from({ length: 12 }, (_, count) => `Mail ${count}`),
    );
  });

  test("an email that cannot be written is refused as unavailable", async () => {
    await writeFile(join(root, "file"), "");
    await sendingFails(opened({ outboxDir: join(root, "file", "outbox") }).mailer.send(mail));
  });
});

suite("with a mail server", () => {
  test("an email reaches it with its link, and nothing is logged or written", async () => {
    const server = await startMailServer();
    const { mailer, lines } = opened({ smtpUrl: server.url });
    await mailer.send(mail);
    const [received] = server.mails;
    assert.deepEqual([received!.from, received!.to], ["noreply@example.com", ["ada@example.com"]]);
    assert.equal(linkIn(received!.source), link);
    assert.deepEqual(lines, []);
    await assert.rejects(stat(join(root, "unused")));
    mailer.close();
    await server.close();
  });

  test("user and password of the URL are used to sign in to it", async () => {
    const server = await startMailServer({ name: "ada@example.com", password: "p@ss/word" });
    const { mailer } = opened({ smtpUrl: server.url });
    await mailer.send(mail);
    assert.equal(server.mails.length, 1);
    mailer.close();
    const stranger = opened({ smtpUrl: server.url.replace(/\/\/.*@/, "//eve:guess@") }).mailer;
    await sendingFails(stranger.send(mail));
    stranger.close();
    await server.close();
  });

  test("a rejected email or recipient is refused as unavailable", async () => {
    const server = await startMailServer();
    const { mailer } = opened({ smtpUrl: server.url });
    server.refusing = 451;
    await sendingFails(mailer.send(mail));
    mailer.close();
    await server.close();
    const late = opened({ smtpUrl: server.url }).mailer;
    await sendingFails(late.send(mail));
    late.close();
  });

  test("neither recipient nor subject can add recipients or headers", async () => {
    const server = await startMailServer();
    const { mailer } = opened({ smtpUrl: server.url });
    const hostile: Partial<Mail>[] = [
      { to: "ada@example.com, eve@example.com" },
      { to: "ada@example.com\r\nBcc: eve@example.com" },
      { subject: "Hello\r\nBcc: eve@example.com\r\n\r\nBody" },
    ];
    for (const fields of hostile) {
      await mailer.send({ ...mail, ...fields }).catch(() => undefined);
    }
    assert.ok(server.mails.some(({ source }) => source.includes("Subject: Hello Bcc")));
    for (const { to, source } of server.mails) {
      assert.equal(to.length, 1);
      assert.ok(!/^Bcc:/im.test(source));
    }
    assert.ok(!server.mails.some(({ to }) => to.includes("eve@example.com")));
    mailer.close();
    await server.close();
  });
});

suite("every email", () => {
  const makers = { verificationMail, passwordResetMail };
  for (const [name, make] of Object.entries(makers)) {
    test(`says where the link leads and how long it works, in both parts: ${name}`, () => {
      const { text, html } = make({ to: "ada@example.com", link, validHours: 24 });
      assert.ok(text.includes(`\n${link}\n`));
      assert.match(text, /24 hours/);
      assert.match(html, /24 hours/);
      assert.ok(html.includes(`href="${link.replaceAll("&", "&#38;")}"`));
    });

    test(`says one hour, not one hours: ${name}`, () => {
      assert.match(make({ to: "ada@example.com", link, validHours: 1 }).text, /for 1 hour\./);
    });

    test(`escapes its link and loads nothing: ${name}`, () => {
      const hostile = `https://onlooker.example/?a="><img src=x onerror='alert(1)'>&b=<script>`;
      const tags = (link: string) =>
        make({ to: "ada@example.com", link, validHours: 24 }).html.match(/<[^>]*>/g)!;
      const names = (link: string) => tags(link).map(tag => tag.match(/^<[!/]?\w+/)![0]);
      assert.deepEqual(names(hostile), names(link));
      assert.deepEqual(
        tags(hostile).filter(tag => /onerror|<img|<link|src=|url\(/.test(tag)),
        tags(hostile).filter(tag => tag.startsWith("<a ")),
      );
      const anchor = tags(hostile).find(tag => tag.startsWith("<a "))!;
      assert.match(anchor, /^<a href="[^"]*" style="[^"]*">$/);
    });
  }

  test("is unchanged after quoted-printable encoding", async () => {
    const outboxDir = join(root, "text");
    await opened({ outboxDir }).mailer.send({
      ...mail,
      text: `Grüße, 東京 = ${"long ".repeat(60)}\n${link}`,
    });
    const [name] = await readdir(outboxDir);
    const source = decoded(await readFile(join(outboxDir, name!), "latin1"));
    assert.ok(source.includes(`Grüße, 東京 = ${"long ".repeat(60)}`));
  });
});
