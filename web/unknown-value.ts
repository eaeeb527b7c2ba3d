// Says why the value of a parameter of the URL cannot be used.

/** `label`: that of the parameter on the page. */
export function unknownValueText(label: string, value: string): string {
  return `${label}: “${value}” is not a known value.`;
}

export function noTimeText(label: string, value: string): string {
  return `${label}: “${value}” is not a time.`;
}
