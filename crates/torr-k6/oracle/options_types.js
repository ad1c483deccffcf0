// Numbers as text, keys without a meaning, and the options as virtual users see them.
import exec from 'k6/execution';

export const options = { vus: '2', iterations: `${1 + 3}`, unknownKey: 1, tags: { run: 'a' }, summaryTrendStats: ['avg', 'p(99)'] };

export default function () {
  if (exec.scenario.iterationInTest === 0) {
    const shown = exec.test.options;
    console.log(JSON.stringify([shown.scenarios.default.executor, shown.scenarios.default.vus, shown.tags.run]));
    console.log(JSON.stringify([options.vus, options.iterations, options.summaryTrendStats]));
  }
}
