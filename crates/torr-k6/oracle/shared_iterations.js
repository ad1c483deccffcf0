// Virtual users take iterations from one common count.
import http from 'k6/http';
import exec from 'k6/execution';

export const options = {
  scenarios: { shop: { executor: 'shared-iterations', vus: 3, iterations: 9, maxDuration: '20s' } },
};

export default function () {
  http.get(`${__ENV.BASE}/text?row=${exec.scenario.iterationInTest}`);
}
