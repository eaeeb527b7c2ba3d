// A project: contains agents, keys and test cases, and isolates them from other projects.

export type Project = {
  id: string;
  name: string;
  /** ISO 8601. */
  createdAt: string;
};

/** The initial name of the project that is created with an account. */
export const firstProjectName = "My project";
