// Downloads text or bytes as a file.

export function download(
  name: string,
  content: string | Blob,
  type: "text/plain" | "text/csv" | "application/json" | "application/jsonl",
): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // By then the browser has started to read the blob.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
