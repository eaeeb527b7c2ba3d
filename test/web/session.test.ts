// The session of a page: what waits when it ends, and what happens in other tabs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PageSession } from "../../web/session.ts";

const ada = { id: "1", email: "ada@example.com" };
const bob = { id: "2", email: "bob@example.com" };

type Tabs = ReturnType<NonNullable<ConstructorParameters<typeof PageSession>[0]>>;

/** Two tabs of one browser; messages arrive immediately. */
function twoTabs() {
  const channels: Tabs[] = [];
  const open = (): Tabs => {
    const channel: Tabs = {
      onmessage: null,
      postMessage: data => {
        for (const other of channels) if (other !== channel) other.onmessage?.({ data });
      },
    };
    channels.push(channel);
    return channel;
  };
  return [new PageSession(open), new PageSession(open)] as const;
}

/** A server that answers 401 until `admits` is true. */
function server() {
  const played = {
    admits: false,
    requests: 0,
    attempt: async () => {
      played.requests++;
      return new Response(null, { status: played.admits ? 204 : 401 });
    },
  };
  return played;
}

const nextTurn = () => new Promise(resolve => setImmediate(resolve));

test("a change that was answered 401 waits, and is sent again after signing in", async () => {
  const [page] = twoTabs();
  page.saw(ada);
  const played = server();
  const answer = page.send(played.attempt, { isBackground: false });
  await nextTurn();
  assert.deepEqual(page.state, { kind: "ended", isAsking: true });
  played.admits = true;
  page.signedIn(ada);
  assert.equal((await answer).status, 204);
  assert.equal(played.requests, 2);
  assert.deepEqual(page.state, { kind: "active" });
});

test("signing in in one tab revives the other, and signing out ends it", async () => {
  const [one, other] = twoTabs();
  one.saw(ada);
  other.saw(ada);
  const played = server();
  const answer = other.send(played.attempt, { isBackground: false });
  await nextTurn();
  played.admits = true;
  one.signedIn(ada);
  assert.equal((await answer).status, 204);
  one.signedOut();
  assert.deepEqual(other.state, { kind: "ended", isAsking: true });
  assert.deepEqual(one.state, { kind: "active" });
});

test("a page that stays open after signing out asks for the password to save, and not before", async () => {
  const [page, other] = twoTabs();
  page.saw(ada);
  other.saw(ada);
  page.signingOut();
  assert.deepEqual(other.state, { kind: "ended", isAsking: true });
  const played = server();
  assert.equal((await page.send(played.attempt, { isBackground: true })).status, 401);
  assert.deepEqual(page.state, { kind: "ended", isAsking: false });
  const save = page.send(played.attempt, { isBackground: false });
  await nextTurn();
  assert.deepEqual(page.state, { kind: "ended", isAsking: true });
  played.admits = true;
  page.signedIn(ada);
  assert.equal((await save).status, 204);
  assert.deepEqual(other.state, { kind: "active" });
});

test("a page that was left after signing out takes any account", () => {
  const [page] = twoTabs();
  page.saw(ada);
  page.signingOut();
  page.signedOut();
  assert.equal(page.saw(bob), true);
  assert.deepEqual(page.state, { kind: "active" });
});

test("a page sends nothing with the session of another account, until its own account signs in again", async () => {
  const [one, other] = twoTabs();
  one.saw(ada);
  other.saw(ada);
  one.signedOut();
  one.saw(bob);
  assert.deepEqual(other.state, { kind: "other", email: bob.email, isAsking: true });
  const played = server();
  played.admits = true;
  const answer = other.send(played.attempt, { isBackground: false });
  await nextTurn();
  assert.equal(played.requests, 0);
  other.signedIn(ada);
  assert.equal((await answer).status, 204);
  assert.deepEqual(one.state, { kind: "other", email: ada.email, isAsking: true });
});

test("after the question is dismissed, reads fail quietly and the next change asks again", async () => {
  const [page] = twoTabs();
  page.saw(ada);
  const played = server();
  const first = page.send(played.attempt, { isBackground: true });
  await nextTurn();
  page.dismiss();
  assert.equal((await first).status, 401);
  assert.equal((await page.send(played.attempt, { isBackground: true })).status, 401);
  assert.deepEqual(page.state, { kind: "ended", isAsking: false });
  const save = page.send(played.attempt, { isBackground: false });
  await nextTurn();
  assert.deepEqual(page.state, { kind: "ended", isAsking: true });
  page.dismiss();
  assert.equal((await save).status, 401);
});

test("a request that was answered 401 after the user signed in again is repeated without asking", async () => {
  const [page] = twoTabs();
  page.saw(ada);
  const late = Promise.withResolvers<Response>();
  const answers = [late.promise, Promise.resolve(new Response(null, { status: 204 }))];
  const slow = page.send(() => answers.shift()!, { isBackground: true });
  page.saw(null);
  page.signedIn(ada);
  late.resolve(new Response(null, { status: 401 }));
  assert.equal((await slow).status, 204);
  assert.deepEqual(page.state, { kind: "active" });
});

test("an aborted request stops waiting, and without an account a 401 is an answer like any other", async () => {
  const [page, guest] = twoTabs();
  page.saw(ada);
  const aborting = new AbortController();
  const waiting = page.send(server().attempt, { isBackground: true, signal: aborting.signal });
  await nextTurn();
  aborting.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  assert.equal((await guest.send(server().attempt, { isBackground: false })).status, 401);
  assert.deepEqual(guest.state, { kind: "active" });
});
