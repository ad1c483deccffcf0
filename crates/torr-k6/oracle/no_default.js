// A scenario whose function does not exist: exit code 104.
export const options = { scenarios: { shop: { executor: 'shared-iterations', exec: 'buy' } } };

export default function () {
  console.log('not reached');
}
