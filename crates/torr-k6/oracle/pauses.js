// Pauses of all lengths.
import { sleep } from 'k6';

const slept = (seconds, least) => {
  const begun = Date.now();
  try {
    sleep(seconds);
  } catch (error) {
    return error.name;
  }
  const took = Date.now() - begun;
  return took >= least && took < 10000;
};

export default function () {
  console.log(slept(0.2, 190), slept(0, 0), slept(-50, 0), slept(NaN, 0), slept('0.1', 90), slept(true, 990));
  console.log(slept(null, 0), slept(undefined, 0), slept({}, 0), slept('x', 0));
}
