// What a virtual user knows of the run.
import exec, { scenario, vu } from 'k6/execution';

// The order of keys is not defined.
const sorted = (key, value) =>
  value && typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

export const options = { scenarios: { shop: { executor: 'per-vu-iterations', vus: 1, iterations: 2 } } };

export default function () {
  console.log(exec.scenario.name, exec.scenario.executor, scenario.iterationInTest, scenario.iterationInInstance);
  console.log(vu.idInTest, vu.idInInstance, vu.iterationInInstance, vu.iterationInScenario);
  console.log(scenario.progress >= 0, scenario.startTime <= Date.now(), exec.instance.vusActive, exec.instance.vusInitialized);
  console.log(exec.instance.iterationsCompleted, exec.instance.iterationsInterrupted, exec.instance.currentTestRunDuration >= 0);
  console.log(JSON.stringify(vu.metrics.tags, sorted), JSON.stringify(vu.tags, sorted));
}
