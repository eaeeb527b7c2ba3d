// The tabs of Get started: what sends the first trace. A tab of the URL is a snippet or a guide for a framework.
import { persistedChoice } from "../../persisted-choice.ts";
import type { Guide, Language } from "./guides/guide.ts";
import { guides } from "./guides/guides.ts";
import { type SnippetName, snippetNames, snippets } from "./snippets.ts";

/** A tab of the first row. */
export type Sender = "curl" | "collector" | Language;

/** In the URL: the name of a snippet, or the ID of a guide. */
export type Tab = SnippetName | (string & {});

/** `first`: what the tab of the language opens. */
export const tabs: readonly { sender: Sender; label: string; first: Tab }[] = [
  { sender: "curl", label: snippets.curl.label, first: "curl" },
  { sender: "Python", label: "Python", first: "python" },
  { sender: "Node", label: "Node", first: "node" },
  { sender: "Java", label: "Java", first: "java-spring-ai" },
  { sender: ".NET", label: ".NET", first: "dotnet-semantic-kernel" },
  { sender: "collector", label: snippets.collector.label, first: "collector" },
];

/** The tab that was opened last, in any project. */
export const lastTab = persistedChoice<string>("start-tab", "curl", text => tabOf(text) !== undefined);

export function tabOf(text: string | undefined): Tab | undefined {
  return snippetNames.find(name => name === text) ?? guideOf(text)?.id;
}

export function guideOf(tab: string | undefined): Guide | undefined {
  return guides.find(({ id }) => id === tab);
}

export function senderOf(tab: Tab): Sender {
  if (tab === "python") return "Python";
  if (tab === "node") return "Node";
  return guideOf(tab)?.language ?? (tab === "collector" ? "collector" : "curl");
}

/** What a language offers, with the words on its button. Empty: nothing to choose. */
export function frameworksOf(sender: Sender): { tab: Tab; label: string }[] {
  const own = guides.filter(({ language }) => language === sender);
  const plain = tabs.find(one => one.sender === sender)!.first;
  return [
    ...(sender === "Python" || sender === "Node" ? [{ tab: plain, label: "OpenTelemetry" }] : []),
    ...own.map(guide => ({ tab: guide.id, label: labelOf(guide, own) })),
  ];
}

/** Names what writes the spans only where a framework has several guides. */
function labelOf({ title, by }: Guide, all: Guide[]): string {
  const isOnly = all.filter(other => other.title === title).length === 1;
  return isOnly || by === undefined ? title : `${title}: ${by}`;
}
