// Iterations begin at a rate that changes linearly.
import http from 'k6/http';

export const options = {
  scenarios: {
    rate: {
      executor: 'ramping-arrival-rate',
      startRate: 0,
      timeUnit: '1s',
      preAllocatedVUs: 5,
      stages: [{ target: 20, duration: '2s' }, { target: 20, duration: '1s' }],
    },
  },
  thresholds: { iterations: ['count>=37', 'count<=41'] },
};

export default function () {
  http.get(`${__ENV.BASE}/text`);
}
