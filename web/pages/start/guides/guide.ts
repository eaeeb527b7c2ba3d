// What a guide of Get started consists of: the lines that make an agent of one framework send traces. Also in docs/frameworks.md.

export const languages = ["Python", "Node", "Java", ".NET"] as const;
export type Language = (typeof languages)[number];

export type Guide = {
  /** In the URL, and in the name of its test. */
  id: string;
  language: Language;
  /** The framework. */
  title: string;
  /** What writes the spans, if one framework has several guides or it is not the framework itself. */
  by?: string;
  /** To install, with the version that our tests ran; null: not run. */
  packages: Record<string, string | null>;
  /** Environment variables besides the common ones; "{key}" is the API key. */
  variables?: Record<string, string>;
  /** Goes to the start of the agent's program. */
  setup: string;
  /** A small agent. With `setup` before it, a complete program. */
  example?: string;
  /** The convention to read, by the name of its preset; null: documented attributes. */
  convention: string | null;
  /** What else to know, such as how message content is switched on. */
  note?: string;
  /** What its instrumentation does not write. */
  missing?: "tokens";
  /** Why no test runs it; absent: a test does. */
  notRun?: string;
};

/** Where to send. */
export type Target = { origin: string; key: string; serviceName: string };

/** Quotes one word for a POSIX shell. */
export const shellWord = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The variables that OpenTelemetry's exporters read. */
export function exporterVariables({ origin, key, serviceName }: Target): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${origin}/public/traces`,
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-api-key=${key}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_SERVICE_NAME: serviceName,
    OTEL_METRICS_EXPORTER: "none",
    OTEL_LOGS_EXPORTER: "none",
  };
}

export function ownVariables(
  { variables = {} }: Guide,
  { key }: Pick<Target, "key">,
): Record<string, string> {
  const entries = Object.entries(variables);
  return Object.fromEntries(entries.map(([name, value]) => [name, value === "{key}" ? key : value]));
}

/** Shell commands: installs the packages and sets the variables. */
export function shellText(guide: Guide, target: Target): string {
  const variables = Object.entries({ ...exporterVariables(target), ...ownVariables(guide, target) });
  const exports = variables.map(([name, value]) => `export ${name}=${shellWord(value)}`);
  return [...installText(guide), ...exports].join("\n");
}

/** None for Java and .NET, whose packages go into a project file. */
export function installText({ language, packages }: Guide): string[] {
  const names = Object.keys(packages);
  if (names.length === 0) return [];
  // zsh expands brackets.
  const words = names.map(name => (/[[\]]/.test(name) ? shellWord(name) : name)).join(" ");
  if (language === "Python") return [`pip install ${words}`];
  if (language === "Node") return [`npm install ${words}`];
  return language === ".NET" ? names.map(name => `dotnet add package ${name}`) : [];
}

/** A complete program. */
export function programText({ setup, example }: Guide): string {
  return example === undefined ? setup : `${setup}\n\n${example}`;
}

export function fileName({ language }: Guide): string | null {
  return language === "Python" ? "agent.py" : language === "Node" ? "agent.mjs" : null;
}

/** "langchain 1.4.7, …"; null: not run. */
export function ranWith({ packages, notRun }: Guide): string | null {
  if (notRun !== undefined) return null;
  return Object.entries(packages)
    .map(([name, version]) => `${name.replace(/\[.*/, "")} ${version}`)
    .join(", ");
}
