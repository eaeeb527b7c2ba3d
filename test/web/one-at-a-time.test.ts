// A form is sent once, however often and however early its button is pressed again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { oneAtATime } from "../../web/forms/one-at-a-time.ts";

test("a form is busy until all that follows on success has ended, and sent once meanwhile", async () => {
  const busy: boolean[] = [];
  const once = oneAtATime(now => busy.push(now));
  const refetched = Promise.withResolvers<void>();
  let sent = 0;
  const work = async () => {
    sent++;
    await refetched.promise;
  };
  const first = once(work);
  await once(work);
  assert.equal(sent, 1);
  assert.deepEqual(busy, [true]);
  refetched.resolve();
  await first;
  assert.deepEqual(busy, [true, false]);
  await once(work);
  assert.equal(sent, 2);
});

test("a form can be sent again after an error in what follows", async () => {
  const busy: boolean[] = [];
  const once = oneAtATime(now => busy.push(now));
  const fails = once(async () => {
    throw new Error("no");
  });
  await assert.rejects(fails);
  assert.deepEqual(busy, [true, false]);
});
