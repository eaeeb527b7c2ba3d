// Whether a page by itself, such as that of signing in, was shown before: then the focus is to go on to what follows it.
export const arrival = { fromLone: false };
