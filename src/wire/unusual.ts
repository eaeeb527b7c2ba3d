// What walkers and visitors throw.

/** Thrown for bytes that are no request, and by strict walks for what SDKs do not write. Carries no stack: it is made once. */
export const unusual = new Error("not as SDKs write it");
