// The document title: page, agent and product name.
import { createContext, useContext } from "react";

/** The name of the agent that the pages below belong to. */
export const TitleOf = createContext<string | undefined>(undefined);

export function Title({ text }: { text: string }) {
  const of = useContext(TitleOf);
  return <title>{of === undefined ? `${text} · Onlooker` : `${text} · ${of} · Onlooker`}</title>;
}
