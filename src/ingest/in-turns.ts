// Works on many items, a limited number of them at once.

/** Two transactions' worth: those of other requests are stored in between, however many traces one request has. */
const groupsAtOnce = 256;

/** The results in order; rejects with the first error, after which no further group begins. */
export async function inTurns<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const take = async () => {
    while (next < items.length) {
      const at = next++;
      try {
        results[at] = await work(items[at]!);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(groupsAtOnce, items.length) }, take));
  return results;
}
