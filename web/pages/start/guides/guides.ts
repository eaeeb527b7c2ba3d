// All guides of Get started, in the order of the page.
import type { Guide } from "./guide.ts";
import { nodeGuides } from "./node.ts";
import { otherGuides } from "./other.ts";
import { pythonGuides } from "./python.ts";
import { openInferenceGuides } from "./python-openinference.ts";

const all: Guide[] = [...openInferenceGuides, ...pythonGuides, ...nodeGuides, ...otherGuides];

/** The guides of one framework are next to each other. */
export const guides: readonly Guide[] = [
  ...Map.groupBy(all, ({ language, title }) => `${language} ${title}`).values(),
].flat();
