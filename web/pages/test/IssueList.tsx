// A list of errors or warnings; each path is a link to its field.
import type { Issue } from "../../../src/model/refusal.ts";

type IssueListProps = { issues: Issue[]; onGo: (path: string) => void };

export function IssueList({ issues, onGo }: IssueListProps) {
  return (
    <ul className="editor-places">
      {issues.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          <button type="button" className="button" data-look="link" onClick={() => onGo(path)}>
            <code className="break">{path || "document"}</code>
          </button>{" "}
          <span className="break">{message}</span>
        </li>
      ))}
    </ul>
  );
}
