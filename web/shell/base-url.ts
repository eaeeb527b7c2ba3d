// Whether the dashboard is opened at another origin than the one that links in emails have.

/** True if it matters: people on other machines cannot open such links, or the session is less safe than it could be. */
export function isWrongBaseUrl(baseUrl: string, opened: string): boolean {
  if (baseUrl === opened) return false;
  const [base, page] = [new URL(baseUrl), new URL(opened)];
  return !isLocal(page.hostname) || (page.protocol === "https:" && base.protocol === "http:");
}

function isLocal(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
