// A local SMTP server that keeps every message it accepts.
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

export type ReceivedMail = { from: string; to: string[]; source: string };

export type MailServer = {
  /** The URL to configure: `smtp://127.0.0.1:…`. */
  url: string;
  mails: ReceivedMail[];
  /** If set, it rejects every recipient with this SMTP code. */
  refusing: number | undefined;
  close(): Promise<void>;
};

/** Listens on a free port of 127.0.0.1, without encryption. With `user`, it accepts mail from that user only. */
export async function startMailServer(user?: { name: string; password: string }): Promise<MailServer> {
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    authOptional: user === undefined,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === user?.name && password === user?.password) done(null, { user: username });
      else done(new Error("Invalid username or password"));
    },
    onRcptTo(_address, _session, done) {
      if (mailServer.refusing === undefined) done();
      else done(Object.assign(new Error("Not now"), { responseCode: mailServer.refusing }));
    },
    onData(stream, { envelope }, done) {
      text(stream).then(source => {
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        mailServer.mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      }, done);
    },
  });
  // A client that disconnects in the middle of a session is no error of the test.
  server.on("error", () => undefined);
  const mailServer: MailServer = {
    url: "",
    mails: [],
    refusing: undefined,
    close: () => new Promise(resolve => server.close(() => resolve())),
  };
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  const login = user ? `${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@` : "";
  mailServer.url = `smtp://${login}127.0.0.1:${port}`;
  return mailServer;
}

/** The readable source of an email whose parts are quoted-printable, as ours are. */
export function decoded(source: string): string {
  const bytes = source
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

/** The emails that can be turned off: alerts, unlike those about the account. */
export function alertsIn({ mails }: MailServer): ReceivedMail[] {
  return mails.filter(({ source }) => /^List-Unsubscribe:/m.test(source));
}

/** The first link in an email's source. */
export function linkIn(source: string): string {
  const link = decoded(source).match(/https?:\/\/[^\s"<>]+/)?.[0];
  if (link === undefined) throw new Error("The mail has no link");
  return link;
}
