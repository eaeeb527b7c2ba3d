// Schemas of saved views of an agent's list of traces.
import { z } from "zod";
import { Id, Name, searchText } from "../frame/schemas.ts";

const View = {
  name: Name.refine(name => name.length <= 60, "Must have at most 60 characters.").meta({ maxLength: 60 }),
  search: z
    .record(z.string().regex(/^[A-Za-z]{1,40}$/), searchText(500))
    .refine(search => Object.keys(search).length <= 50, "At most 50 parameters.")
    .meta({ maxProperties: 50 })
    .describe("Parameters of the dashboard's URL of the list: the filters, `kind`, `order` and `within`."),
};
export const ViewToSave = z.object(View);
export const SavedView = z.object({ id: Id, agentId: Id, ...View }).meta({ id: "TraceView" });
export type SavedView = z.output<typeof SavedView>;
export const SavedViews = z.object({ items: z.array(SavedView) });
export type SavedViews = z.output<typeof SavedViews>;
