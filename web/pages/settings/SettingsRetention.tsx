// What the service keeps, for how long, and what ends it.

const kept = [
  {
    what: "Traces, their runs and verdicts",
    until: "Until deleted",
    how: "By deleting the trace, or the agent, project or account it belongs to. They do not expire.",
  },
  {
    what: "Test cases and agents",
    until: "Until deleted",
    how: "A result keeps a copy of the test as it was judged, for as long as its trace.",
  },
  {
    what: "Counts behind the insights",
    until: "As long as the agent or test",
    how: "Deleting a trace leaves them: they hold numbers by the hour, nothing that was said.",
  },
  {
    what: "Keys",
    until: "Until revoked",
    how: "Only a hash and the last four characters. Revoking deletes them; an expired key stays listed.",
  },
  {
    what: "Access tokens",
    until: "Until revoked",
    how: "Only a hash and the last four characters, as of keys.",
  },
  {
    what: "Ingestion log",
    until: "7 days",
    how: "Counts by the minute, code, key and service name, without payloads.",
  },
  {
    what: "Sessions",
    until: "7 days unused",
    how: "Use extends them, once a day. Ended at once by signing out, under Sessions, or by a new password.",
  },
  {
    what: "Links in mails",
    until: "Good for 24 hours, or 1 hour",
    how: "To verify an address, and to reset a password. What they hold is kept as a hash alone.",
  },
];

export function SettingsRetention() {
  return (
    <section className="stack">
      <h2>Retention</h2>
      <p className="quiet">
        There is nothing to set: what is yours stays until you delete it, and is then gone at once and for
        good, but for the backups of whoever runs this service.
      </p>
      <ul className="card stack">
        {kept.map(({ what, until, how }) => (
          <li key={what}>
            <div className="line line-apart">
              <h3>{what}</h3>
              <span>{until}</span>
            </div>
            <p className="quiet small">{how}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
