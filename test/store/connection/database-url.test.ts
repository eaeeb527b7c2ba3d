// URLs of one PostgreSQL server or several.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readDatabaseUrl } from "../../../src/store/connection/database-url.ts";

const one = { primary: false, target: null, options: null };

const read: [url: string, expected: ReturnType<typeof readDatabaseUrl>][] = [
  ["postgresql://u:p@db/x", { ...one, servers: ["postgresql://u:p@db/x"], hosts: "db" }],
  ["postgres://u:p@db:6432/x", { ...one, servers: ["postgres://u:p@db:6432/x"], hosts: "db:6432" }],
  [
    "postgresql://u:p,q%40@a:5432,[::1]:5433/x?sslmode=disable",
    {
      ...one,
      servers: [
        "postgresql://u:p,q%40@a:5432/x?sslmode=disable",
        "postgresql://u:p,q%40@[::1]:5433/x?sslmode=disable",
      ],
      hosts: "a:5432, [::1]:5433",
      primary: true,
    },
  ],
  [
    "postgresql://u@vip/x?target_session_attrs=read-write",
    { ...one, servers: ["postgresql://u@vip/x"], hosts: "vip", primary: true, target: "read-write" },
  ],
  [
    "postgresql://u@db/x?options=-c%20search_path%3Dours",
    { ...one, servers: ["postgresql://u@db/x"], hosts: "db", options: "-c search_path=ours" },
  ],
  [
    "postgresql:///x?host=/run/postgresql",
    { ...one, servers: ["postgresql:///x?host=%2Frun%2Fpostgresql"], hosts: "/run/postgresql" },
  ],
  ["mysql://u:p@db/x", undefined],
  ["postgresql://a,,b/x", undefined],
  ["postgresql://a:port,b/x", undefined],
  ["host=db", undefined],
];

for (const [url, expected] of read) {
  test(`${url} is ${expected ? `the database at ${expected.hosts}` : "no database"}`, () => {
    assert.deepEqual(readDatabaseUrl(url), expected);
  });
}
