// A project: what an account's agents, keys and test cases belong to, and the border nothing is seen across.

export type Project = {
  id: string;
  name: string;
  /** ISO 8601. */
  createdAt: string;
};

/** The project that comes with an account bears this name until it is renamed. */
export const firstProjectName = "My project";
