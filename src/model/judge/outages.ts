// Limits on traces that the judge was unavailable for: how many are counted, and how many one request reschedules.

export const outagesMax = 10_000;
export const againMax = 1_000;
