// Whether a page without the shell, such as sign-in, was shown before: then the focus moves to the page that follows it.
export const arrival = { cameFromAuthPage: false };
