// Settings of an agent: name, service name, connection, conventions, content, attributes, alerts, judge sampling and budget, and deletion.
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { AgentForm } from "../../forms/AgentForm.tsx";
import { AttributesSection } from "../../forms/AttributesSection.tsx";
import { ConnectionSection } from "../../forms/ConnectionSection.tsx";
import { ContentSection } from "../../forms/ContentSection.tsx";
import { ConventionsSection } from "../../forms/ConventionsSection.tsx";
import { DeleteSection } from "../../forms/DeleteSection.tsx";
import { JudgeSettingsSection } from "../../forms/JudgeSettingsForm.tsx";
import { deleteAgent } from "../../mutations/agents.ts";
import { agentQuery, agentsQuery, lastTraceQuery } from "../../queries/agents.ts";
import { keysQuery } from "../../queries/keys.ts";
import { Verdict } from "../../ui/Badge.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { Page } from "../../ui/Page.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { AlertsSection } from "./AlertsSection.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/settings");

export function AgentSettingsPage() {
  const { projectId, agentId } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const { data: last } = useQuery(lastTraceQuery(agentId));
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <Page title="Agent settings">
      <div className="narrow stack">
        <dl className="facts">
          <dt>ID</dt>
          <dd>
            <CopyText text={agent.id} label="agent ID" />
          </dd>
          <dt>Last trace</dt>
          <dd>
            {last === null && <span className="quiet">None yet</span>}
            {last && (
              <>
                <RelativeTime at={last.receivedAt} />
                <Verdict run={last.run} />
              </>
            )}
          </dd>
        </dl>
        <section className="card">
          <AgentForm key={agent.id} projectId={projectId} agent={agent} onDone={() => toast("Agent saved")} />
        </section>
        <ConnectionSection key={`${agent.id} connection`} agent={agent} />
        <ConventionsSection key={`${agent.id} conventions`} agent={agent} />
        <ContentSection key={`${agent.id} content`} agent={agent} />
        <AttributesSection key={`${agent.id} attributes`} agent={agent} />
        <AlertsSection key={`${agent.id} alerts`} agent={agent} />
        <JudgeSettingsSection projectId={projectId} agentId={agentId} />
        <DeleteSection
          noun="agent"
          name={agent.name}
          send={() => deleteAgent(agent.id)}
          lost="Also deletes its test cases, traces and results. Keys limited to this agent stop working."
          onDone={async () => {
            await navigate({
              to: "/projects/$projectId/agents",
              params: { projectId },
              replace: true,
              ignoreBlocker: true,
            });
            queries.removeQueries({ queryKey: agentQuery(agent.id).queryKey });
            await queries.invalidateQueries({ queryKey: agentsQuery(projectId).queryKey });
            await queries.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
          }}
        />
      </div>
    </Page>
  );
}
