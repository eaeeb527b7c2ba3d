// Faults and remarks by the path of what they are about, each a way to its place.
import type { Issue } from "../../../src/model/refusal.ts";

type IssueListProps = { issues: Issue[]; onGo: (path: string) => void };

export function IssueList({ issues, onGo }: IssueListProps) {
  return (
    <ul className="editor-places">
      {issues.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          <button type="button" className="button" data-look="link" onClick={() => onGo(path)}>
            <code className="break">{path || "the whole"}</code>
          </button>{" "}
          <span className="break">{message}</span>
        </li>
      ))}
    </ul>
  );
}
