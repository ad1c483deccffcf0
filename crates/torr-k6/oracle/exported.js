// Functions that another module exports, and options that change after their declaration.
import main from './lib/below/main.js';

export { buy, handleSummary } from './lib/below/main.js';
export default main;

const preset = { thresholds: { iterations: ['count==3'] }, vus: '1' };

export let options = { ...preset, iterations: undefined };

options.scenarios = { a: { executor: 'per-vu-iterations', iterations: Number('2') }, b: { executor: 'per-vu-iterations', startTime: '1s', exec: 'buy' } };
delete options.vus;
