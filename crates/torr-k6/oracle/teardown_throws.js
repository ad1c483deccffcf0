// An error in teardown: exit code 107.
export default function () {
  console.log('iteration');
}

export function teardown() {
  throw new Error('no database');
}
