// Service names as exporters send them.

/** What an exporter calls itself that was given no name. */
export function isDefaultName(serviceName: string): boolean {
  return serviceName.startsWith("unknown_service");
}

/** Whether an agent can have this name and should: the log shortens longer ones, and a default says nothing. */
export function isGivable(serviceName: string): boolean {
  return serviceName.length <= 255 && !isDefaultName(serviceName);
}
