// Replies to OTLP clients.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import protobuf from "protobufjs";
import { Refusal } from "../../src/model/refusal.ts";
import { type RefusalCode, refusals } from "../../src/model/refusals.ts";
import { encodeStatus, encodeSuccess, partialMessage } from "../../src/wire/otlp-reply.ts";

const root = protobuf.Root.fromJSON({
  nested: {
    Response: { fields: { partialSuccess: { type: "Partial", id: 1 } } },
    Partial: { fields: { rejectedSpans: { type: "int64", id: 1 }, errorMessage: { type: "string", id: 2 } } },
    Status: { fields: { code: { type: "int32", id: 1 }, message: { type: "string", id: 2 } } },
  },
});
const read = (type: string, bytes: Buffer) => {
  const message = root.lookupType(type);
  return message.toObject(message.decode(bytes), { longs: Number });
};

suite("success", () => {
  test("is an empty object in JSON and 0 bytes in protobuf", () => {
    assert.equal(encodeSuccess("json").toString(), "{}");
    assert.equal(encodeSuccess("protobuf").length, 0);
  });

  test("in part names the rejected spans, a JSON number, and the reason", () => {
    const partial = { rejectedSpans: 70_000, errorMessage: "OTLP_ID_INVALID: 日本 \u0000" };
    assert.deepEqual(JSON.parse(encodeSuccess("json", partial).toString()), { partialSuccess: partial });
    assert.deepEqual(read("Response", encodeSuccess("protobuf", partial)), { partialSuccess: partial });
  });
});

suite("a status", () => {
  test("has the code that means the HTTP status, and leads its message with ours", () => {
    const refusal = new Refusal("OTLP_NO_SPANS", { message: "Nothing.", hint: "Send spans." });
    assert.deepEqual(read("Status", encodeStatus(refusal)), {
      code: 3,
      message: "OTLP_NO_SPANS: Nothing. (Send spans.)",
    });
    assert.deepEqual(read("Status", encodeStatus(new Refusal("UNAUTHORIZED"))), {
      code: 16,
      message: "UNAUTHORIZED: Authentication is missing or not valid.",
    });
  });

  test("is never OK or UNKNOWN, for any code a client can meet", () => {
    for (const code of Object.keys(refusals) as RefusalCode[]) {
      const status = read("Status", encodeStatus(new Refusal(code)));
      assert.ok(status["code"] > 2, code);
    }
  });
});

suite("the message of a partial success", () => {
  test("names each code once with its spans and traces, then what to do", () => {
    const idInvalid = new Refusal("OTLP_ID_INVALID", { hint: "Send hexadecimal ids." });
    const refused = [
      { spanCount: 2, refusal: idInvalid },
      { spanCount: 1, refusal: new Refusal("OTLP_PLATFORM_NOT_FOUND") },
      { spanCount: 3, refusal: idInvalid },
    ];
    assert.equal(
      partialMessage(refused),
      "OTLP_ID_INVALID: 5 spans in 2 traces; OTLP_PLATFORM_NOT_FOUND: 1 span in 1 trace. The rejected services are listed in the project's ingestion log. Send hexadecimal ids.",
    );
  });

  test("never exceeds 1 KB of UTF-8, and is never cut within a character", () => {
    for (const filler of ["x", "é", "日", "👩"]) {
      const codes = Object.keys(refusals) as RefusalCode[];
      const refused = codes.map(code => ({
        spanCount: 100_000,
        refusal: new Refusal(code, { hint: filler.repeat(500) }),
      }));
      const message = partialMessage(refused);
      assert.ok(Buffer.byteLength(message) <= 1024);
      assert.ok(message.isWellFormed() && !message.includes("\ufffd"));
      for (const { refusal } of refused)
        assert.ok(message.includes(`${refusal.code}: 100000 spans in 1 trace`));
    }
  });
});
