// A script that cannot be parsed: exit code 107.
export default function () {
  const a = ;
}
