// The browser's title: the screen, what it is a screen of, and the name of the whole.
import { createContext, useContext } from "react";

/** What all screens below are of, such as an agent's name. */
export const TitleOf = createContext<string | undefined>(undefined);

export function Title({ text }: { text: string }) {
  const of = useContext(TitleOf);
  return <title>{of === undefined ? `${text} · Onlooker` : `${text} · ${of} · Onlooker`}</title>;
}
