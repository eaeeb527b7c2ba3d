// Runs one piece of work at a time, such as sending a form.

/** Ignores `work` until an earlier one has ended, with what follows on success, such as refetching a list. */
export function oneAtATime(setBusy: (busy: boolean) => void): (work: () => Promise<void>) => Promise<void> {
  let inProgress = false;
  return async work => {
    if (inProgress) return;
    inProgress = true;
    setBusy(true);
    try {
      await work();
    } finally {
      inProgress = false;
      setBusy(false);
    }
  };
}
