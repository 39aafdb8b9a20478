export const b = 5;
