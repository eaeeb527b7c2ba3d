// Deleting traces.
import { remove } from "../api.ts";

export const deleteTrace = (id: string) => remove(`/api/traces/${id}`);
