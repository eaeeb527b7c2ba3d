// Email templates: plain text, and simple HTML without external resources.
import { button, page, paragraph, small } from "./layout.ts";
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
      small(`Forgot it? Reset your password:\n${reset}`, reset),
      small(ending),
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
      small(`If the button does not work, open this link:\n${link}`),
      small(ending),
    ]),
  };
}
