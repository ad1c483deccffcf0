// Options of a script whose load comes from other places, too.
import exec from 'k6/execution';
import http from 'k6/http';

const shared = (vus, iterations) => ({ executor: 'shared-iterations', vus, iterations });

export const options = {
  scenarios: { buy: shared(__ENV.BUYERS || '2', `${2 * 2}`), look: { ...shared(1, 1), exec: 'look', gracefulStop: '1s' } },
  userAgent: 'script',
  tags: { from: 'script', own: 'yes' },
  summaryTrendStats: ['avg', 'p(99)'],
  noSuchOption: { a: 1 },
};

const sorted = (key, value) =>
  value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

function shown() {
  const { scenarios, tags, userAgent, summaryTrendStats, maxRedirects } = exec.test.options;
  return JSON.stringify({ scenarios, tags, userAgent, summaryTrendStats, maxRedirects }, sorted);
}

export default function () {
  http.get(`${__ENV.BASE}/text?scenario=${exec.scenario.name}&redirects=${options.maxRedirects}`);
  if (exec.scenario.iterationInTest === 0) {
    console.log(exec.scenario.name, exec.scenario.executor, shown());
    console.log(JSON.stringify([options.vus, options.iterations, options.duration, options.stages, options.tags], sorted));
  }
}

export function look() {
  http.get(`${__ENV.BASE}/text?look`);
}
