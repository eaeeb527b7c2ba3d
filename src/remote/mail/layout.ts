// The HTML of emails: one column, inline styles, nothing loaded from elsewhere.

const buttonStyle =
  "display:inline-block;padding:12px 20px;border-radius:8px;background:#1f4fd8;color:#ffffff;" +
  "font-weight:600;text-decoration:none";
const quiet = "margin:0 0 16px;color:#5b6270;font-size:14px;overflow-wrap:anywhere";

export function button(link: string, action: string): string {
  return `<p style="margin:24px 0"><a href="${escaped(link)}" style="${buttonStyle}">${escaped(action)}</a></p>`;
}

export function paragraph(line: string): string {
  return `<p style="margin:0 0 16px">${escaped(line)}</p>`;
}

/** A paragraph in small print; each line of the text is a line. `link`: the URL in it that is a link. */
export function small(text: string, link?: string): string {
  const html = escaped(text).replaceAll("\n", "<br>");
  const url = link && escaped(link);
  return `<p style="${quiet}">${url ? html.replace(url, () => `<a href="${url}">${url}</a>`) : html}</p>`;
}

/** A whole document. `body` is HTML. */
export function page(title: string, body: string[]): string {
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

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
