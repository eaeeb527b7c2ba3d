// The email about tests that started failing or pass again: names, counts and links.
import type { AlertedTest, AlertMessage } from "../../model/alert/alert.ts";
import { stripInvisible } from "../../model/strip-invisible.ts";
import { button, escaped, page, paragraph, small } from "./layout.ts";
import type { Mail } from "./mailer.ts";

type Changed = Extract<AlertMessage, { type: "test_states.changed" }>;

type AlertMailOptions = {
  to: string;
  /** The same for every attempt to send it. */
  id: string;
  /** Turns alerts of the account off. */
  turnOffUrl: string;
};

export function alertMail({ data }: Changed, { to, id, turnOffUrl }: AlertMailOptions): Mail {
  const { agent, project, tests, changedTests, failingTests } = data;
  const subject = `${oneLine(agent.name, 60)}: ${headline(tests, changedTests)}`;
  const about = `Agent ${oneLine(agent.name)} in ${oneLine(project.name)}. ${failing(failingTests)} now.`;
  const more = changedTests - tests.length;
  const rest = more > 0 ? [`${count(more, "more test")} changed.`] : [];
  const ending = "A test is failing after three failures in a row, and passes again after three passes.";
  const off = "You get this email because you own the project. Turn these emails off:";
  return {
    to,
    id,
    subject,
    unsubscribe: turnOffUrl,
    text: [
      about,
      ...tests.map(test => [`${sentence(test)} ${counts(test)}`, ...links(test)].join("\n")),
      ...rest,
      `All test cases:\n${agent.url}`,
      ending,
      `${off}\n${turnOffUrl}`,
      "Onlooker",
    ]
      .join("\n\n")
      .concat("\n"),
    html: page(subject, [
      paragraph(about),
      ...tests.map(testHtml),
      ...rest.map(paragraph),
      button(agent.url, "View test cases"),
      small(ending),
      `<p style="margin:0;font-size:14px"><a href="${escaped(turnOffUrl)}" style="color:#5b6270">Turn off these emails</a></p>`,
    ]),
  };
}

function headline(tests: AlertedTest[], changedTests: number): string {
  const [first] = tests;
  if (changedTests === 1 && first) return `“${oneLine(first.name, 80)}” ${verb(first)}`;
  if (changedTests > tests.length) return `${changedTests} tests changed`;
  const failingCount = tests.filter(({ state }) => state === "failing").length;
  const parts = [
    failingCount > 0 && `${count(failingCount, "test")} ${failingCount === 1 ? "is" : "are"} failing`,
    failingCount < tests.length && passing(tests.length - failingCount, failingCount > 0),
  ];
  return parts.filter(Boolean).join(", ");
}

function passing(number: number, isContinued: boolean): string {
  const verb = number === 1 ? "passes again" : "pass again";
  return `${isContinued ? number : count(number, "test")} ${verb}`;
}

function verb({ state }: AlertedTest): string {
  return state === "failing" ? "is failing" : "passes again";
}

function sentence(test: AlertedTest): string {
  const since = test.since === null ? "" : ` since ${timeText(test.since)}`;
  const often = test.changes > 1 ? ` (changed ${test.changes} times)` : "";
  return `“${oneLine(test.name)}” ${verb(test)}${since}${often}.`;
}

function counts({ last24Hours: { failed, passed } }: AlertedTest): string {
  return `Last 24 hours: ${failed} failed, ${passed} passed.`;
}

function links({ state, url, firstTraceUrl }: AlertedTest): string[] {
  const trace = state === "failing" && firstTraceUrl ? [`First failing trace: ${firstTraceUrl}`] : [];
  return [`Results: ${url}`, ...trace];
}

function testHtml(test: AlertedTest): string {
  const { state, url, firstTraceUrl } = test;
  const trace =
    state === "failing" && firstTraceUrl
      ? ` · <a href="${escaped(firstTraceUrl)}" style="color:#1f4fd8">First failing trace</a>`
      : "";
  return (
    `<p style="margin:0 0 16px;padding-left:12px;border-left:3px solid ${state === "failing" ? "#c62828" : "#2e7d32"};overflow-wrap:anywhere">` +
    `<strong>${escaped(sentence(test))}</strong><br>${escaped(counts(test))}<br>` +
    `<a href="${escaped(url)}" style="color:#1f4fd8">Results</a>${trace}</p>`
  );
}

function failing(number: number): string {
  return number === 0
    ? "No test is failing"
    : `${count(number, "test")} ${number === 1 ? "is" : "are"} failing`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const time = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** "Nov 21, 2026, 11:34 PM UTC". */
function timeText(at: string): string {
  return `${time.format(new Date(at)).replace(/\s/g, " ")} UTC`;
}

/** Names are written by users: without line breaks and invisible characters, at most `charsMax` characters. */
function oneLine(name: string, charsMax = 200): string {
  const line = stripInvisible(name).replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length > charsMax ? `${characters.slice(0, charsMax - 1).join("")}…` : line;
}
