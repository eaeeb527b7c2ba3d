// Downloads text as a file.

export function download(
  name: string,
  text: string,
  type: "text/plain" | "text/csv" | "application/json",
): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // By then the browser has started to read the blob.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
