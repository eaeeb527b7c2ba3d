// What data the service stores, for how long, and what deletes it.

const kept = [
  {
    what: "Traces and their evaluations",
    until: "Until deleted, or for the project’s time",
    how: "Deleted with the trace, its agent, project or account, or when it is older than the project’s settings or this server’s allow.",
  },
  {
    what: "Test cases and agents",
    until: "Until deleted",
    how: "Each result keeps a copy of the test as evaluated, until its trace or run is deleted.",
  },
  {
    what: "Insights statistics",
    until: "Until the agent or test is deleted",
    how: "Hourly numbers without content. Deleting a trace does not change them.",
  },
  {
    what: "Keys",
    until: "Until revoked",
    how: "Stored as a hash and the last four characters. Revoking deletes a key; expired keys stay listed.",
  },
  {
    what: "Access tokens",
    until: "Until revoked",
    how: "Stored like keys, as a hash and the last four characters.",
  },
  {
    what: "Ingestion log",
    until: "7 days",
    how: "Counts per minute, code, key and service name, without payloads.",
  },
  {
    what: "Webhook deliveries",
    until: "30 days",
    how: "Names, counts and links, no text of traces. Deleted with the webhook.",
  },
  {
    what: "Sessions",
    until: "7 days without use",
    how: "Extended once a day by use. Signing out, ending a session, or a new password ends them immediately.",
  },
  {
    what: "Email links",
    until: "24 hours or 1 hour",
    how: "24 hours to verify an email, 1 hour to reset a password. Their tokens are stored as hashes.",
  },
];

export function SettingsRetention() {
  return (
    <section className="stack">
      <h2>Retention</h2>
      <p className="quiet">
        Your data is kept until you delete it; deletion is immediate and permanent, except in the operator’s
        backups. How long traces are kept can be limited in the settings of each project.
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
