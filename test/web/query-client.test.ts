// The query client asks a service also while the browser calls itself offline: it may be on the same machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { onlineManager, QueryObserver } from "@tanstack/query-core";
import { Failed } from "../../web/api.ts";
import { makeQueryClient } from "../../web/queries/client.ts";

test("offline, a query is sent, fails if nothing answers, and is sent again when the browser is back online", async t => {
  onlineManager.setOnline(false);
  t.after(() => onlineManager.setOnline(true));
  const queries = makeQueryClient();
  queries.mount();
  t.after(() => queries.unmount());
  assert.equal(await queries.fetchQuery({ queryKey: ["local"], queryFn: async () => 1 }), 1);
  const away = new Failed({ code: "OFFLINE", status: 0, message: "Cannot reach the server." });
  let answers: () => Promise<number> = () => Promise.reject(away);
  const observer = new QueryObserver(queries, {
    queryKey: ["remote"],
    queryFn: () => answers(),
    retry: false,
    staleTime: 0,
  });
  const read = (status: string) =>
    new Promise<void>(resolve => {
      const unsubscribe = observer.subscribe(result => {
        if (result.status !== status) return;
        unsubscribe();
        resolve();
      });
    });
  t.after(observer.subscribe(() => {}));
  await read("error");
  const back = read("success");
  answers = async () => 2;
  onlineManager.setOnline(true);
  await back;
  assert.equal(observer.getCurrentResult().data, 2);
});
