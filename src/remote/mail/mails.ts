// Email templates: plain text, and simple HTML without external resources.
import type { Mail } from "./mailer.ts";

export type LinkMail = { to: string; link: string; validHours: number };

/** Asks the owner of a new account to confirm the email address. */
export function verificationMail(mail: LinkMail): Mail {
  return linkMail(mail, {
    subject: "Confirm your email address",
    lines: ["Confirm your email address so that your API keys can send traces to Onlooker."],
    action: "Confirm email address",
    ending: "If you did not create an Onlooker account, you can ignore this email.",
  });
}

/** Contains the link for choosing a new password. */
export function passwordResetMail(mail: LinkMail): Mail {
  return linkMail(mail, {
    subject: "Choose a new password",
    lines: ["Someone, hopefully you, asked to reset the password for your Onlooker account."],
    action: "Choose a new password",
    ending: "If this wasn’t you, ignore this email. Your password stays the same.",
  });
}

/** Tells the owner of an account that somebody tried to create one with the same email address. */
export function signUpNoticeMail({ to, baseUrl }: { to: string; baseUrl: string }): Mail {
  const [signIn, reset] = [`${baseUrl}/sign-in`, `${baseUrl}/forgot-password`];
  const subject = "You already have an account";
  const line = "Someone, hopefully you, tried to create an Onlooker account with this email address.";
  const ending = "If this wasn’t you, ignore this email. Nothing has changed.";
  return {
    to,
    subject,
    link: signIn,
    text: `${[line, "You already have an account:", `Sign in:\n${signIn}`, `Reset your password:\n${reset}`, ending, "Onlooker"].join("\n\n")}\n`,
    html: page(subject, [
      paragraph(line),
      paragraph("You already have an account: sign in, or reset your password."),
      button(signIn, "Sign in"),
      `<p style="${quiet}">Forgot it? Reset your password:<br><a href="${escaped(reset)}">${escaped(reset)}</a></p>`,
      `<p style="${quiet}">${escaped(ending)}</p>`,
    ]),
  };
}

type Wording = { subject: string; lines: string[]; action: string; ending: string };

function linkMail({ to, link, validHours }: LinkMail, { subject, lines, action, ending }: Wording): Mail {
  const validity = `The link works once, for ${validHours} ${validHours === 1 ? "hour" : "hours"}.`;
  return {
    to,
    subject,
    link,
    text: [...lines, `${action}:\n${link}`, validity, ending, "Onlooker"].join("\n\n").concat("\n"),
    html: page(subject, [
      ...lines.map(paragraph),
      button(link, action),
      paragraph(validity),
      `<p style="${quiet}">If the button does not work, open this link:<br>${escaped(link)}</p>`,
      `<p style="${quiet}">${escaped(ending)}</p>`,
    ]),
  };
}

const buttonStyle =
  "display:inline-block;padding:12px 20px;border-radius:8px;background:#1f4fd8;color:#ffffff;" +
  "font-weight:600;text-decoration:none";
const quiet = "margin:0 0 16px;color:#5b6270;font-size:14px;overflow-wrap:anywhere";

function button(link: string, action: string): string {
  return `<p style="margin:24px 0"><a href="${escaped(link)}" style="${buttonStyle}">${escaped(action)}</a></p>`;
}

function paragraph(line: string): string {
  return `<p style="margin:0 0 16px">${escaped(line)}</p>`;
}

function page(title: string, body: string[]): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
<body style="margin:0;padding:24px;background:#f4f5f7;color:#1b1f27;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:520px;margin:0 auto;padding:32px;background:#ffffff;border:1px solid #e1e4ea;border-radius:12px">
<p style="margin:0 0 24px;font-weight:700">Onlooker</p>
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${escaped(title)}</h1>
${body.join("\n")}
</div>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
