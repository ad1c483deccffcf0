// The module `k6-utils` of jslib: random values, strings between others, stages of a scenario.
import exec from 'k6/execution';

const LOWER_CASE = 'abcdefghijklmnopqrstuvwxyz';

export function uuidv4(secure = false) {
  if (secure) return crypto.randomUUID();
  let digits = '';
  for (let place = 0; place < 32; place++) digits += Math.floor(Math.random() * 16).toString(16);
  const variant = (parseInt(digits[16], 16) & 3 | 8).toString(16);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`;
}

export function randomIntBetween(min, max) {
  return Math.floor(Math.random() * (max - min + 1) + min);
}

export function randomItem(list) {
  return list[Math.floor(Math.random() * list.length)];
}

export function randomString(length, charset = LOWER_CASE) {
  let text = '';
  while (length-- > 0) text += charset[Math.floor(Math.random() * charset.length)];
  return text;
}

export function findBetween(content, left, right, repeat = false) {
  const found = [];
  for (let from = 0; ;) {
    const begin = content.indexOf(left, from);
    if (begin === -1) break;
    const end = content.indexOf(right, begin + left.length);
    if (end === -1) break;
    found.push(content.substring(begin + left.length, end));
    if (!repeat) return found[0];
    from = end + right.length;
    if (from <= begin) break;
  }
  return repeat ? found : null;
}

// A bell curve: a sixth of the time rises to its foot, four sixths follow it, a sixth falls to nothing.
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const density = (x) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  const edge = Math.ceil(durationSeconds / 6);
  const width = Math.ceil(durationSeconds * 4 / 6 / numberOfStages);
  const target = (x) => Math.ceil(maxVus * density(x) / density(0));
  const stages = [{ duration: `${edge}s`, target: target(-2) }];
  for (let number = 1; number <= numberOfStages; number++) {
    stages.push({ duration: `${width}s`, target: target(-2 + 4 * number / (numberOfStages + 1)) });
  }
  stages.push({ duration: `${edge}s`, target: 0 });
  return stages;
}

const UNITS = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1 };

// A duration in milliseconds: parts with the units d, h, m, s and ms, each at most once; a number alone is milliseconds.
export function parseDuration(text) {
  if (typeof text === 'number') return Math.trunc(text);
  if (text === undefined || text === null || text.length < 1) throw new Error('the duration is empty');
  const used = new Set();
  let total = 0;
  const rest = text.replace(/(\d+\.?\d*|\.\d+)(ms|[a-zA-Z]*)/g, (part, number, unit) => {
    const name = unit === '' ? 'ms' : unit;
    if (!(name in UNITS) || used.has(name)) throw new Error(`the duration '${text}' has an invalid unit in '${part}'`);
    used.add(name);
    total += Number(number) * UNITS[name];
    return '';
  });
  if (/[^\s-]/.test(rest)) throw new Error(`the duration '${text}' is invalid`);
  return Math.trunc(total);
}

function currentStages() {
  const scenario = exec.test.options.scenarios?.[exec.scenario.name];
  if (!scenario?.stages) {
    throw new Error(`the executor of the scenario '${exec.scenario.name}' has no stages: use ramping-vus or ramping-arrival-rate`);
  }
  if (scenario.stages.length < 1) throw new Error(`the scenario '${exec.scenario.name}' has no stages`);
  return scenario;
}

export function getCurrentStageIndex() {
  const { stages } = currentStages();
  const elapsed = Date.now() - exec.scenario.startTime;
  let end = 0;
  for (let index = 0; index < stages.length; index++) {
    end += parseDuration(stages[index].duration);
    if (elapsed < end) return index;
  }
  return stages.length - 1;
}

function tag(name, value) {
  exec.vu.metrics.tags[name] = value;
}

export function tagWithCurrentStageIndex() {
  tag('stage', String(getCurrentStageIndex()));
}

export function tagWithCurrentStageProfile() {
  const { stages } = currentStages();
  const index = getCurrentStageIndex();
  const target = Number(stages[index].target);
  const before = index < 1 ? 0 : Number(stages[index - 1].target);
  let profile = 'steady';
  if (index < 1 || target > before) profile = 'ramp-up';
  else if (target < before) profile = 'ramp-down';
  tag('stage_profile', profile);
}
