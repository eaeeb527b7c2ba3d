// Service names that exporters send.

/** The default that an exporter sends if no service name is set. */
export function isDefaultName(serviceName: string): boolean {
  return serviceName.startsWith("unknown_service");
}

/** Whether to offer this name to an agent: not longer ones, which the log truncates, nor the default. */
export function isUsableName(serviceName: string): boolean {
  return serviceName.length <= 255 && !isDefaultName(serviceName);
}
