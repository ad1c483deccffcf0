// Timers keep an iteration going.
import { setTimeout as later } from 'k6/timers';

export default function () {
  const begun = Date.now();
  setTimeout(() => console.log('second', Date.now() - begun >= 40), 50);
  later(() => console.log('first'), 1);
  const cleared = setTimeout(() => console.log('never'), 10);
  clearTimeout(cleared);
  let ticks = 0;
  const interval = setInterval(() => {
    ticks += 1;
    if (ticks === 3) {
      clearInterval(interval);
      console.log('third', ticks);
    }
  }, 40);
}
