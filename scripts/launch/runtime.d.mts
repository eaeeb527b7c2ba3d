// For what is TypeScript: the launcher itself is plain JavaScript.
export const nodeMajor: number;
