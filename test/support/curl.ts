// Stands in for curl on machines without it: sends a request with the options that Onlooker's snippets use.
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    include: { type: "boolean", short: "i" },
    header: { type: "string", short: "H", multiple: true },
    data: { type: "string", short: "d" },
  },
});
const [url, ...others] = positionals;
if (url === undefined || others.length > 0) throw new Error("curl needs exactly one URL");
const headers = (values.header ?? []).map((line): [string, string] => {
  const colon = line.indexOf(":");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
});
const method = values.data === undefined ? "GET" : "POST";
const response = await fetch(url, { method, headers, body: values.data ?? null, redirect: "manual" });
if (values.include) {
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`);
  process.stdout.write(`HTTP/1.1 ${response.status} ${response.statusText}\r\n${lines.join("")}\r\n`);
}
process.stdout.write(await response.text());
