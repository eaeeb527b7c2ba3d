// The key of a project's pseudonyms: when it was made, and whether the server can read it.
import { useQuery } from "@tanstack/react-query";
import { pseudonymKeyQuery } from "../../queries/privacy.ts";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";

export function PseudonymKeySection({ projectId }: { projectId: string }) {
  const query = useQuery(pseudonymKeyQuery(projectId));
  return (
    <section className="card stack" aria-labelledby="pseudonym-key">
      <div className="stack-tight">
        <h2 id="pseudonym-key">Pseudonym key</h2>
        <p className="quiet">
          The same value always has the same pseudonym in this project. The key never leaves the server.
        </p>
      </div>
      <Loaded query={query}>
        {({ createdAt, readable }) => (
          <>
            {!readable && (
              <Notice tone="bad">
                The key was encrypted with another key of the server, so traces that need a pseudonym are
                refused. Restore the server’s secret key.
              </Notice>
            )}
            <p>
              {createdAt === null ? (
                "Created when the first rule or attribute is saved."
              ) : (
                <>
                  Created <RelativeTime at={createdAt} />.
                </>
              )}
            </p>
          </>
        )}
      </Loaded>
    </section>
  );
}
