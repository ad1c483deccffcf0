// Nested groups, with checks of one name in several groups.
import http from 'k6/http';
import { check, group } from 'k6';

export const options = {
  vus: 1,
  iterations: 2,
  thresholds: {
    'http_reqs{group:::shop::basket}': ['count==2'],
    'http_reqs{group:::shop}': ['count==2'],
    'group_duration{group:::shop}': ['max>=0'],
  },
};

export default function () {
  const returned = group('shop', () => {
    const response = http.get(`${__ENV.BASE}/text`);
    check(response, { found: (r) => r.status === 200 });
    return group('basket', () => {
      check(http.get(`${__ENV.BASE}/status/404`), { found: (r) => r.status === 200 });
      return 7;
    });
  });
  console.log(`returned ${returned}`);
  check(null, { outside: true });
}
