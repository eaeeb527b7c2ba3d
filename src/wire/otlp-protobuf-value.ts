// Converts OTLP attributes and their values from protobuf to plain JSON.
import { setOwn } from "../model/set-own.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { finite } from "./any-value.ts";
import { eightBytes, type ProtobufWalk, sized, varint } from "./protobuf-walk.ts";

const tags = {
  keyValue: { key: 1 * 8 + sized, value: 2 * 8 + sized },
  list: { values: 1 * 8 + sized },
  anyValue: {
    string: 1 * 8 + sized,
    bool: 2 * 8 + varint,
    int: 3 * 8 + varint,
    double: 4 * 8 + eightBytes,
    array: 5 * 8 + sized,
    keyValues: 6 * 8 + sized,
    bytes: 7 * 8 + sized,
  },
} as const;

/** Reads a KeyValue into `target` and returns its key. */
export function readKeyValue(walk: ProtobufWalk, target: Attributes): string {
  let key = "";
  let value: unknown = null;
  const outer = walk.enter();
  while (walk.more) {
    const tag = walk.tag();
    if (tag === tags.keyValue.key) key = walk.text();
    else if (tag === tags.keyValue.value) value = readAnyValue(walk);
    else walk.skip();
  }
  walk.leave(outer);
  setOwn(target, key, value);
  return key;
}

/** The string of a KeyValue; null for other types, although `readKeyValue` may convert them to text. */
export function readStringOf(walk: ProtobufWalk): string | null {
  let string: string | null = null;
  const outer = walk.enter();
  while (walk.more) {
    if (walk.tag() === tags.keyValue.value) {
      const outer = walk.enter();
      while (walk.more) {
        if (walk.tag() === tags.anyValue.string) string = walk.text();
        else {
          string = null;
          walk.skip();
        }
      }
      walk.leave(outer);
    } else walk.skip();
  }
  walk.leave(outer);
  return string;
}

export function readAnyValue(walk: ProtobufWalk): unknown {
  let value: unknown = null;
  const outer = walk.enter();
  while (walk.more) {
    switch (walk.tag()) {
      case tags.anyValue.string:
        value = walk.text();
        break;
      case tags.anyValue.bool:
        value = walk.bool();
        break;
      case tags.anyValue.int:
        value = walk.int64();
        break;
      case tags.anyValue.double:
        value = finite(walk.double());
        break;
      case tags.anyValue.array:
        value = readArray(walk);
        break;
      case tags.anyValue.keyValues:
        value = readKeyValues(walk);
        break;
      case tags.anyValue.bytes:
        value = walk.base64();
        break;
      default:
        walk.skip();
    }
  }
  walk.leave(outer);
  return value;
}

function readArray(walk: ProtobufWalk): unknown[] {
  const array: unknown[] = [];
  const outer = walk.enter();
  while (walk.more) {
    if (walk.tag() === tags.list.values) array.push(readAnyValue(walk));
    else walk.skip();
  }
  walk.leave(outer);
  return array;
}

function readKeyValues(walk: ProtobufWalk): Attributes {
  const object: Attributes = {};
  const outer = walk.enter();
  while (walk.more) {
    if (walk.tag() === tags.list.values) readKeyValue(walk, object);
    else walk.skip();
  }
  walk.leave(outer);
  return object;
}
