// A project contains agents, keys and test cases, and isolates them from other projects.

/** The initial name of the project that is created with an account. */
export const firstProjectName = "My project";
