// A module that does not exist.
import { faker } from 'faker';

export default function () {
  console.log(faker);
}
