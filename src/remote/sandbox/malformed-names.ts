// Lets names with lone surrogates be validated, for the whole thread that imports this file.

const encode = encodeURI;

// The library writes where it is with `encodeURI`, which throws on them. Only the sandbox's thread may import this file.
Object.assign(globalThis, { encodeURI: (text: string) => encode(text.toWellFormed()) });
