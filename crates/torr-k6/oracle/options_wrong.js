// A value of a wrong type is an error before the run.
export const options = { vus: 'ten' };

export default function () {
  console.log('not reached');
}
