// Remembers that a page without navigation, such as sign-in, was shown before: the next page then takes the focus.
export const arrival = { cameFromAuthPage: false };
