export default async () => {
  console.log('main', await Promise.resolve(__ITER));
};

export const buy = () => console.log('buy');

export function handleSummary(data) {
  return { stdout: `${data.metrics.iterations.values.count}\n`, stderr: '' };
}

export function setup() {
  throw new Error('the main module does not export it');
}
