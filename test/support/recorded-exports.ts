// The recorded trace exports of test/fixtures/otlp, as they were sent.
import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const folder = new URL("../fixtures/otlp/", import.meta.url);

export const recordedExports = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter(path => /\.(pb|json)(\.gz)?$/.test(path) && !/\.logs\.|expected/.test(path))
  .map(path => {
    const bytes = readFileSync(new URL(path, folder));
    const body = path.endsWith(".gz") ? gunzipSync(bytes) : bytes;
    return { path, mediaType: path.includes(".pb") ? ("protobuf" as const) : ("json" as const), body };
  });
