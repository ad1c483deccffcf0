// Options that exclude each other are an error before the run.
export const options = { duration: '1s', stages: [{ duration: '1s', target: 1 }] };

export default function () {
  console.log('not reached');
}
