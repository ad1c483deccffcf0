// Iterations begin at a constant rate.
import http from 'k6/http';

export const options = {
  scenarios: {
    rate: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '2s', preAllocatedVUs: 5 },
  },
  thresholds: { iterations: ['count>=38', 'count<=41'] },
};

export default function () {
  http.get(`${__ENV.BASE}/text`);
}
