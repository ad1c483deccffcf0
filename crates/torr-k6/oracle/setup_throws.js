// An error in setup ends the run: exit code 107, without teardown.
export function setup() {
  throw new Error('no database');
}

export default function () {
  console.log('not reached');
}

export function teardown() {
  console.log('not reached either');
}

export function handleSummary() {
  return { stdout: 'a summary\n' };
}
