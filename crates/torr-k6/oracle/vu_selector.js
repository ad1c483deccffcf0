// Virtual users and iterations are no tags that a threshold can select.
export const options = { iterations: 1, thresholds: { 'iterations{vu:1}': ['count>0'] } };

export default function () {}
