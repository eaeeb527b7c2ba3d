// Compares the advisories that `npm audit --json` reports with the allowed ones.

/** An advisory that does not fail the audit until `expires`, a date (UTC), and why. */
export type AllowedAdvisory = { id: string; reason: string; expires: string };

/** Of `npm audit --json`: `via` lists advisories, and the names of vulnerable dependencies. */
export type AuditReport = {
  vulnerabilities: Record<string, { via: (string | ReportedAdvisory)[] }>;
};

type ReportedAdvisory = { name: string; title: string; url: string; severity: string; range: string };

const failing = ["high", "critical"];

/** The problems that fail the audit, one line each. `report` is undefined if the registry could not be asked. */
export function problemsOf(
  report: AuditReport | undefined,
  allowed: AllowedAdvisory[],
  today: string,
): string[] {
  const expired = allowed
    .filter(({ expires }) => expires < today)
    .map(
      ({ id, expires }) =>
        `allowed advisory ${id} expired on ${expires}: update the package, or decide again`,
    );
  const current = new Set(allowed.filter(({ expires }) => expires >= today).map(({ id }) => id));
  const reported = new Map(advisoriesIn(report).map(advisory => [idOf(advisory), advisory]));
  const open = [...reported]
    .filter(([id, { severity }]) => failing.includes(severity) && !current.has(id))
    .map(([id, { name, range, severity, title }]) => `${id}: ${severity} in ${name} ${range}: ${title}`);
  const unknown = allowed
    .filter(({ id }) => report && !reported.has(id))
    .map(({ id }) => `allowed advisory ${id} is no longer reported: remove it`);
  return [...open, ...expired, ...unknown];
}

function advisoriesIn(report: AuditReport | undefined): ReportedAdvisory[] {
  const vulnerable = Object.values(report?.vulnerabilities ?? {});
  return vulnerable.flatMap(({ via }) => via.filter(one => typeof one !== "string"));
}

/** The GHSA id that the advisory's URL ends with. */
function idOf({ url }: ReportedAdvisory): string {
  return url.slice(url.lastIndexOf("/") + 1);
}
