// Short iterations are followed by a pause.
export const options = { vus: 1, duration: '1s', minIterationDuration: '400ms', thresholds: { iterations: ['count>=2', 'count<=3'] } };

export default function () {}
