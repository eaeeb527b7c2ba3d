// The environment of processes that tests start: nothing of the developer's except PATH.
const { PATH, NODE_COMPILE_CACHE } = process.env;

/** With the cache of compiled code, in which the service takes 0.36 s of a core to load instead of 0.75 s. */
export const childEnv = { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
