// Reads a PostgreSQL URL, which may name several servers: postgresql://user:password@a:5432,b:5432/name.

export type DatabaseUrl = {
  /** One URL per server, in order, without what only Onlooker reads. */
  servers: string[];
  /** The servers without user and password: `a:5432, b:5432`. */
  hosts: string;
  /** Whether connections must go to the server that accepts writes: always with several servers. */
  primary: boolean;
  /** `target_session_attrs`, as libpq calls it. */
  target: string | null;
  /** The command-line options for sessions that the URL contains. */
  options: string | null;
};

const parts = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/;

/** Undefined if this is not the URL of a PostgreSQL database. */
export function readDatabaseUrl(text: string): DatabaseUrl | undefined {
  const [, scheme, user, hosts, rest] = parts.exec(text) ?? [];
  if (hosts === undefined) return undefined;
  const urls = hosts.split(",").map(host => URL.parse(`${scheme}${user}${host}${rest}`));
  if (urls.some(url => url === null || (url.host === "" && urls.length > 1))) return undefined;
  const servers = urls as URL[];
  const { searchParams } = servers[0]!;
  const target = searchParams.get("target_session_attrs");
  const options = searchParams.get("options");
  for (const server of servers) {
    server.searchParams.delete("target_session_attrs");
    server.searchParams.delete("options");
  }
  return {
    servers: servers.map(({ href }) => href),
    hosts: servers.map(({ host, searchParams }) => host || (searchParams.get("host") ?? "")).join(", "),
    primary: servers.length > 1 || target !== null,
    target,
    options,
  };
}
