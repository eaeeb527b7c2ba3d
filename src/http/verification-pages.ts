// The small pages that links of our mails open: no script, one style sheet, every value escaped.
import { createHash } from "node:crypto";
import { passwordLengthMax, passwordLengthMin } from "./accounts-auth.ts";

const style = `
body { margin: 0; padding: 24px; background: #f4f5f7; color: #1b1f27; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 440px; margin: 8vh auto 0; padding: 32px; background: #fff; border: 1px solid #e1e4ea; border-radius: 12px; }
h1 { margin: 0 0 16px; font-size: 22px; line-height: 1.3; }
label { display: block; margin-bottom: 6px; font-weight: 600; }
input { box-sizing: border-box; width: 100%; margin-bottom: 16px; padding: 10px 12px; border: 1px solid #767d8c; border-radius: 8px; font: inherit; }
button { padding: 12px 20px; border: 0; border-radius: 8px; background: #1f4fd8; color: #fff; font: inherit; font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid #8fb0ff; outline-offset: 2px; }
`;

/** The Content-Security-Policy these pages are sent with: their one style sheet by its hash, forms to ourselves. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Asks for the click that verifies: a mail scanner opens links, it presses no buttons. */
export function confirmAddress(token: string): string {
  return page(
    "Confirm your email address",
    `<p>Confirm this address to let your API keys send traces.</p>
<form method="post" action="/verify-email">${hidden(token)}
<button type="submit">Confirm email address</button>
</form>`,
  );
}

export function choosePassword(token: string): string {
  return page(
    "Choose a new password",
    `<form method="post" action="/reset-password">${hidden(token)}
<label for="new-password">New password, at least ${passwordLengthMin} characters</label>
<input id="new-password" name="newPassword" type="password" autocomplete="new-password" required minlength="${passwordLengthMin}" maxlength="${passwordLengthMax}">
<button type="submit">Change password</button>
</form>`,
  );
}

/** Says how it went, a paragraph for each sentence. */
export function notice(title: string, sentences: string[]): string {
  return page(title, sentences.map(sentence => `<p>${escaped(sentence)}</p>`).join("\n"));
}

function hidden(token: string): string {
  return `<input type="hidden" name="token" value="${escaped(token)}">`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} · Onlooker</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
