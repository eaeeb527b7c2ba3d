// Describes a part of a message that is a picture, a sound or a file.

import { isRecord } from "../../model/record.ts";
import type { Attributes } from "../../model/trace/trace.ts";
import { fieldText } from "./field-text.ts";

const mediaTypes = /^(?:blob|uri|media|document|(?:input_|output_)?(?:image|audio|video|file)(?:_url)?)$/;

/** Describes a media part: its type, name and size. */
export function mediaName(part: Attributes, type: string): string | null {
  const inner = [part["inlineData"], part["inline_data"], part["fileData"], part["file_data"]].find(isRecord);
  if (!inner && !mediaTypes.test(type)) return null;
  const holder = inner ?? part;
  const nested = [holder["source"], holder["image_url"], holder["file"], holder["input_audio"]].find(
    isRecord,
  );
  const look = (...keys: string[]) =>
    fieldText(holder, ...keys) ?? (nested ? fieldText(nested, ...keys) : null);
  const kind =
    look("mime_type", "mimeType", "media_type", "mediaType", "modality", "format") ?? (type || "media");
  const called = look(
    "filename",
    "file_name",
    "name",
    "file_id",
    "fileId",
    "file_uri",
    "fileUri",
    "uri",
    "url",
  );
  const data = look("content", "data", "image");
  const place = fieldText(part, "image_url") ?? called;
  const names = [kind, place !== null && place.length <= 300 && !place.startsWith("data:") ? place : null];
  const size = data ?? (place?.startsWith("data:") ? place : null);
  if (size !== null) names.push(`${size.length.toLocaleString("en")} characters of data`);
  return names.filter(name => name !== null).join(", ");
}
