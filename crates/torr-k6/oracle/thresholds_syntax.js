// A threshold that cannot be parsed is an error before the run.
export const options = { thresholds: { http_req_duration: ['p95<500'] } };

export default function () {
  console.log('not reached');
}
