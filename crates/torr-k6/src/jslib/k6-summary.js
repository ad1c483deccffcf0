// The module `k6-summary` of jslib: the result of a test as text, in the layout before k6 1.0, and as JUnit.

const COLOURS = { green: '32', red: '31', faint: '2', value: '36', extra: '36;2' };
const DEFAULTS = { indent: ' ', enableColors: true, summaryTimeUnit: null, summaryTrendStats: null };
const TREND = ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
const UNITS = { s: 0.001, ms: 1, us: 1000 };
const UNIT_NAMES = { s: 's', ms: 'ms', us: 'µs' };

const cut = (value, digits) => Math.trunc(value * 10 ** digits) / 10 ** digits;
const short = (value, digits) => String(parseFloat(value.toFixed(digits)));
const cutShort = (value, digits) => short(cut(value, digits), digits);

// Terminals show combining marks and joiners in the column of the character before.
function width(text) {
  return [...text.normalize('NFC')].filter((one) => !/[\p{Mn}\p{Me}\u200b-\u200d\ufe0f]/u.test(one)).length;
}

const padded = (text, to) => text + ' '.repeat(Math.max(0, to - width(text)));

function bytes(value) {
  if (value < 10) return `${value} B`;
  const names = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
  const power = Math.min(names.length - 1, Math.floor(Math.log10(value) / 3 + 1e-9));
  const scaled = Math.floor(value / 1000 ** power * 10 + 0.5) / 10;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${names[power]}`;
}

function duration(ms, unit) {
  if (unit && unit in UNITS) return (ms * UNITS[unit]).toFixed(2) + UNIT_NAMES[unit];
  if (ms === 0) return '0s';
  if (ms < 0.001) return `${Math.trunc(ms * 1e6)}ns`;
  if (ms < 1) return `${cutShort(ms * 1000, 2)}µs`;
  if (ms < 1000) return `${cutShort(ms, 2)}ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${cutShort(seconds, 2)}s`;
  const whole = Math.trunc(seconds);
  const text = `${Math.trunc(whole / 60) % 60}m${whole % 60}s`;
  return whole < 3600 ? text : `${Math.trunc(whole / 3600)}h${text}`;
}

export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') return `${cut(value * 100, 2).toFixed(2)}%`;
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains === 'time') return duration(value, timeUnit);
  return short(value, 6);
}

// The value of a metric that is no trend, and what stands behind it.
function plainValues(metric, unit) {
  const { values } = metric;
  switch (metric.type) {
    case 'counter':
      return [humanizeValue(values.count, metric, unit), `${humanizeValue(values.rate, metric, unit)}/s`];
    case 'gauge':
      return ['value', 'min', 'max'].map((name) => {
        const text = humanizeValue(values[name], metric, unit);
        return name === 'value' ? text : `${name}=${text}`;
      });
    case 'rate':
      return [humanizeValue(values.rate, metric, unit), `${values.passes} out of ${values.passes + values.fails}`];
    default:
      return ['[no data]'];
  }
}

function byName([left], [right]) {
  const split = (name) => (name.includes('{') ? [name.slice(0, name.indexOf('{')), name] : [name, '']);
  const [leftParent, leftSub] = split(left);
  const [rightParent, rightSub] = split(right);
  if (leftParent !== rightParent) return leftParent < rightParent ? -1 : 1;
  return leftSub < rightSub ? -1 : leftSub > rightSub ? 1 : 0;
}

function groupLines(group, indent, paint) {
  const lines = [];
  if (group.name !== '') {
    lines.push(`${indent}█ ${group.name}`, '');
    indent += '  ';
  }
  const checks = Object.values(group.checks || {});
  for (const check of checks) {
    if (check.fails === 0) {
      lines.push(paint(`${indent}✓ ${check.name}`, 'green'));
      continue;
    }
    const share = Math.floor(100 * check.passes / (check.passes + check.fails));
    const counts = `${indent} ↳  ${share}% — ✓ ${check.passes} / ✗ ${check.fails}`;
    lines.push(paint(`${indent}✗ ${check.name}\n${counts}`, 'red'));
  }
  if (checks.length > 0) lines.push('');
  for (const inner of Object.values(group.groups || {})) lines.push(...groupLines(inner, indent, paint));
  return lines;
}

function metricLines(data, options, paint) {
  const unit = options.summaryTimeUnit;
  const stats = options.summaryTrendStats || TREND;
  const rows = Object.entries(data.metrics).sort(byName).map(([name, metric]) => {
    const sub = name.indexOf('{');
    const label = sub === -1 ? name : `{ ${name.slice(sub + 1, -1)} }`;
    const values = metric.type === 'trend'
      ? stats.map((stat) => (stat === 'count' ? String(metric.values.count) : humanizeValue(metric.values[stat], metric, unit)))
      : plainValues(metric, unit);
    return { label, deeper: sub === -1 ? '' : '  ', metric, values };
  });
  const widest = (list) => list.reduce((most, text) => Math.max(most, width(text)), 0);
  const labels = widest(rows.map((row) => row.deeper + row.label)) + 3;
  const column = (trend, at) => widest(rows.filter((row) => (row.metric.type === 'trend') === trend && at in row.values).map((row) => row.values[at]));
  const trendColumns = stats.map((_, at) => column(true, at));
  const plainColumns = [column(false, 0), column(false, 1)];
  return rows.map(({ label, deeper, metric, values }) => {
    let mark = ' ';
    if (metric.thresholds) {
      const failed = Object.values(metric.thresholds).some((threshold) => !threshold.ok);
      mark = failed ? paint('✗', 'red') : paint('✓', 'green');
    }
    const dots = '.'.repeat(labels - width(deeper + label)) + ':';
    const painted = (text, colour, to) => paint(text, colour) + ' '.repeat(Math.max(0, to - width(text)));
    const shown = metric.type === 'trend'
      ? values.map((value, at) => `${stats[at]}=${painted(value, 'value', trendColumns[at])}`)
      : values.map((value, at) => painted(value, at === 0 ? 'value' : 'extra', at < values.length - 1 ? plainColumns[at] : 0));
    return `${options.indent}  ${deeper}${mark} ${label}${paint(dots, 'faint')} ${shown.join(' ')}`;
  });
}

export function textSummary(data, options) {
  const all = { ...DEFAULTS, ...data.options, ...options };
  const paint = all.enableColors ? (text, colour) => `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : (text) => text;
  return [...groupLines(data.root_group, `${all.indent}    `, paint), ...metricLines(data, all, paint)].join('\n');
}

function escaped(text) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return String(text).replace(/[&<>"']/g, (one) => names[one]);
}

export function jUnit(data, options) {
  const cases = [];
  let failures = 0;
  for (const [metric, { thresholds, type, values }] of Object.entries(data.metrics)) {
    for (const [threshold, { ok }] of Object.entries(thresholds || {})) {
      const name = `<testcase name="${escaped(metric)} - ${escaped(threshold)}"`;
      if (ok) {
        cases.push(`${name} />`);
        continue;
      }
      failures++;
      const facts = Object.entries(values).map(([key, value]) => `${key}: ${value}`).join(', ');
      cases.push(`${name}><failure message="failed, ${escaped(type)} with ${escaped(facts)}"/></testcase>`);
    }
  }
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return `<?xml version="1.0"?>\n<testsuites ${counts}>\n<testsuite name="${escaped(options?.name || 'k6 thresholds')}" ${counts}>${cases.join('\n')}\n</testsuite >\n</testsuites >`;
}
