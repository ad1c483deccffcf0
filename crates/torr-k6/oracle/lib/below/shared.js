export const shared = 'below';
