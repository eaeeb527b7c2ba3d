// Connection errors by code, however deep the code is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionFault } from "../../src/remote/connection-fault.ts";

const coded = (code: string) => Object.assign(new Error("secret"), { code });

test("the code is found in causes and in aggregates", () => {
  const why = "the connection was refused";
  for (const error of [
    coded("ECONNREFUSED"),
    new TypeError("fetch failed", { cause: coded("ECONNREFUSED") }),
    new Error("outer", { cause: new TypeError("fetch failed", { cause: coded("ECONNREFUSED") }) }),
    new TypeError("fetch failed", { cause: new AggregateError([coded("ECONNREFUSED")]) }),
  ]) {
    assert.deepEqual(connectionFault(error), { reached: false, why });
  }
});

test("an unknown code is shown, a message never", () => {
  assert.deepEqual(connectionFault(coded("ENEW")), { reached: false, why: "ENEW" });
  assert.deepEqual(connectionFault(new Error("secret")), { reached: true, why: "sent an invalid response" });
  assert.deepEqual(connectionFault(coded("HPE_INVALID_CONSTANT")).reached, true);
});

test("plain HTTP to a TLS port is named by the alert in place of a response, or supposed if nothing was read", () => {
  const alert = Object.assign(new Error("secret"), { data: "\x15\x03\x03\x00\x02\x02F" });
  assert.deepEqual(connectionFault(new TypeError("fetch failed", { cause: alert })), {
    reached: false,
    why: "the port speaks TLS; the URL must begin with https://",
  });
  const closed = (bytesRead: number) => Object.assign(coded("UND_ERR_SOCKET"), { socket: { bytesRead } });
  assert.match(connectionFault(closed(0)).why, /without an answer \(does its port need https/);
  assert.deepEqual(connectionFault(closed(9)), { reached: true, why: "closed the connection" });
});
