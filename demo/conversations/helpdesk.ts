// Sample tickets of the helpdesk workflow, which sends its traces as plain JSON.
import { inputOf, modelStep, replyOf, type Step, step, tokensIn, toolStep, usageOf } from "../sample.ts";

type Ticket = {
  asked: string;
  reply: string;
  /** The output of the classifier, as JSON text. */
  filed: string;
  /** Arguments of the handbook search. */
  searched: { topic: string; limit: number };
  draftMs?: number;
  posted?: boolean;
};

function ticket({ asked, reply, filed, searched, draftMs = 900, posted = true }: Ticket): Step {
  const input = inputOf(asked);
  return step("Helpdesk workflow", 30, { "workflow.name": "Helpdesk first reply" }, [
    step("Receive ticket", 15, { "ticket.channel": "portal", "ticket.subject": asked }),
    modelStep("Classify ticket", 420, { ...input, ...usageOf(310, 22), "workflow.output": filed }),
    toolStep("search_handbook", searched, 160),
    modelStep("Draft reply", draftMs, { ...input, ...replyOf(reply), ...usageOf(760, tokensIn(reply)) }),
    step("Post reply", 90, { "helpdesk.posted": posted }),
  ]);
}

function filed(category: string, priority: number): string {
  return JSON.stringify({ category, priority, language: "en" });
}

const printer: Ticket = {
  asked: "The printer on the third floor prints everything in pink.",
  reply:
    "Its cyan cartridge is empty. Facilities has a new one on the way; until then, please use the one by the elevator.",
  filed: filed("printing", 3),
  searched: { topic: "printing", limit: 3 },
};

const calendar: Ticket = {
  asked: "How do I share my calendar with the whole team?",
  reply: "Open the calendar's settings, choose Share, and add your team's group with permission to view.",
  filed: filed("mail", 4),
  searched: { topic: "mail", limit: 2 },
};

const phone: Ticket = {
  asked: "I have a new phone. How do I move the sign-in app to it?",
  reply:
    "Open the account page on your laptop, choose Devices, then Add, and scan the code with the new phone.",
  filed: filed("access", 3),
  searched: { topic: "access", limit: 3 },
};

export const helpdeskConversations: Step[] = [
  ticket({
    asked: "The VPN drops every ten minutes when I work from home.",
    reply:
      "Please switch the client to the Bern gateway: Settings, Connection, Gateway. Reply here if it drops again.",
    filed: filed("network", 2),
    searched: { topic: "network", limit: 3 },
  }),
  ticket({
    asked: "I forgot my password and I am locked out.",
    reply:
      "Choose Forgot password on the sign-in page and confirm on your phone. No one here will ask you for it.",
    filed: filed("access", 1),
    searched: { topic: "access", limit: 2 },
  }),
  ticket(printer),
  ticket({
    asked: "Can I get a second screen for my desk?",
    reply: "Yes, one per desk. I have ordered a 27-inch screen for you; it should arrive on Tuesday.",
    filed: filed("hardware", 4),
    searched: { topic: "hardware", limit: 5 },
  }),
  ticket({
    asked: "What is for lunch today?",
    reply: "I could not find that in the handbook. The cafeteria posts its menu on the intranet.",
    filed: filed("other", 5),
    searched: { topic: "canteen", limit: 50 },
  }),
  ticket(calendar),
  ticket({
    asked: "I got an email that asks me to confirm my bank details. Is it real?",
    reply: "It is not. Please forward it to phishing@, delete it, and do not open the link. Well spotted!",
    filed: '{"category":"security","priority":"urgent"}',
    searched: { topic: "security", limit: 3 },
  }),
  withoutReply({
    asked: "My laptop has been installing updates for two hours.",
    reply: "",
    filed: filed("hardware", 2),
    searched: { topic: "hardware", limit: 3 },
    draftMs: 6_000,
  }),
  ticket(phone),
  ticket({
    asked: "Excel closes as soon as I open the budget file.",
    reply:
      "Please open it once with Repair: File, Open, then the arrow beside Open. That keeps your numbers.",
    filed: filed("software", 2),
    searched: { topic: "software", limit: 3 },
    draftMs: 42_000,
  }),
  without(
    ticket({
      asked: "The display in meeting room Aare stays black.",
      reply:
        "Please hold the small button below it for five seconds; it then detects the laptop automatically.",
      filed: filed("hardware", 3),
      searched: { topic: "hardware", limit: 2 },
    }),
    "gen_ai.usage.",
  ),
  without(
    ticket({
      asked: "Can I have access to the sales folder?",
      reply: "I have asked Ms Keller, who owns the folder. You will get an email as soon as she agrees.",
      filed: filed("access", 4),
      searched: { topic: "access", limit: 3 },
    }),
    "gen_ai.output.messages",
  ),
  untimed(
    ticket({
      asked: "My headset is silent in calls, but music plays.",
      reply:
        "In the call, open Devices and choose the headset as the speaker as well. It is set to the monitor.",
      filed: filed("hardware", 3),
      searched: { topic: "hardware", limit: 3 },
    }),
  ),
  reminder("Ticket HD-2207 has been waiting for your answer for three days. Shall we close it?"),
  lostParent(
    ticket({
      asked: "Which form do I need to borrow a camera?",
      reply:
        "None: reserve it in the equipment calendar, and pick it up at the service desk with your badge.",
      filed: filed("hardware", 5),
      searched: { topic: "hardware", limit: 2 },
    }),
  ),
  ticket({
    asked: "Someone in HR needs my start date again, can you send it?",
    reply: "That is for HR to look up, so I have not sent it. I passed your note on to them.",
    filed: filed("other", 5),
    searched: { topic: "other", limit: 1 },
    posted: false,
  }),
];

/** The model timed out, and the workflow ended there. */
function withoutReply(sample: Ticket): Step {
  const workflow = ticket(sample);
  const failure = { code: 2, message: "the model did not answer within 6 s" } as const;
  const { "gen_ai.output.messages": _, ...attributes } = workflow.steps[3]!.attributes;
  const draft = { ...workflow.steps[3]!, attributes, status: failure };
  return { ...workflow, status: failure, steps: [...workflow.steps.slice(0, 3), draft] };
}

/** Without the attributes whose names start with the prefix. */
function without(whole: Step, prefix: string): Step {
  const kept = Object.entries(whole.attributes).filter(([key]) => !key.startsWith(prefix));
  return {
    ...whole,
    attributes: Object.fromEntries(kept),
    steps: whole.steps.map(inner => without(inner, prefix)),
  };
}

function untimed(whole: Step): Step {
  return { ...whole, untimed: true, steps: whole.steps.map(untimed) };
}

/** Started by a timer instead of a person. */
function reminder(text: string): Step {
  const workflow = ticket({
    asked: "",
    reply: text,
    filed: filed("other", 5),
    searched: { topic: "other", limit: 1 },
  });
  return { ...without(workflow, "gen_ai.input."), name: "Nightly reminder" };
}

/** The parent step of the search was filtered out before export. */
function lostParent(whole: Step): Step {
  return { ...whole, steps: whole.steps.with(2, { ...whole.steps[2]!, lostParent: true }) };
}
