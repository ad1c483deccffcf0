// An error at the top level: exit code 107.
throw new Error('nothing works');

export default function () {}
