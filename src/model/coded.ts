// Codes with data of their own.

/** A code with its data, which is null or absent for codes that have none. */
export type Coded<Data, Code extends keyof Data = keyof Data> = {
  [C in Code]: Data[C] extends null ? { code: C; data?: null } : { code: C; data: Data[C] };
}[Code];
