// A threshold on a metric that does not exist is an error before the run.
export const options = { thresholds: { no_such_metric: ['rate<0.1'] } };

export default function () {
  console.log('not reached');
}
