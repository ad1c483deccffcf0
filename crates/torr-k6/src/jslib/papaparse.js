// The module `papaparse` of jslib: CSV read and written.

const GUESSES = [',', '\t', '|', ';', '\x1e', '\x1f'];
const BAD_DELIMITERS = ['\r', '\n', '"', '\ufeff'];
const NUMBER = /^\s*-?(\d+\.?|\.\d+|\d+\.\d+)([eE][-+]?\d+)?\s*$/;
const ISO_DATE = /^\d{4}-[01]\d-[0-3]\d(T[0-2]\d:[0-5]\d(:[0-5]\d(\.\d+)?)?([+-][0-2]\d:[0-5]\d|Z)?)?$/;

const isEmpty = (row, greedy) => (greedy ? row.join('').trim() === '' : row.length === 1 && row[0].length === 0);

function guessNewline(text, quote) {
  const unquoted = text.slice(0, 1 << 20).replace(new RegExp(`${escape(quote)}[^]*?${escape(quote)}`, 'g'), '');
  const returns = unquoted.split('\r');
  const feeds = unquoted.split('\n');
  if (returns.length === 1 || (feeds.length > 1 && feeds[0].length < returns[0].length)) return '\n';
  return returns.slice(1).filter((piece) => piece[0] === '\n').length >= returns.length / 2 ? '\r\n' : '\r';
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// The delimiter whose rows have the most equal numbers of fields, and the most fields among equals.
function guessDelimiter(text, config, newline) {
  let best;
  for (const delimiter of config.delimitersToGuess || GUESSES) {
    const { data } = rowsOf(text, { ...config, delimiter, newline, preview: 10 });
    let spread = 0;
    let sum = 0;
    let before;
    let count = 0;
    for (const row of data) {
      if (isEmpty(row, config.skipEmptyLines === 'greedy')) continue;
      count++;
      sum += row.length;
      if (before !== undefined && row.length > 0) spread += Math.abs(row.length - before);
      before = row.length;
    }
    const mean = count > 0 ? sum / count : 0;
    if (mean > 1.99 && (!best || spread < best.spread || (spread === best.spread && mean > best.mean))) best = { delimiter, spread, mean };
  }
  return best?.delimiter;
}

// Splits a text into rows of fields.
function rowsOf(text, config) {
  const { delimiter, newline, quoteChar: quote, escapeChar: escaped, comments, preview } = config;
  const data = [];
  const errors = [];
  let row = [];
  let at = 0;
  let truncated = false;
  const full = () => preview > 0 && data.length >= preview;
  const end = text.length;
  while (at < end || row.length > 0) {
    if (row.length === 0 && comments && text.startsWith(comments, at)) {
      const next = text.indexOf(newline, at);
      if (next === -1) { at = end; break; }
      at = next + newline.length;
      continue;
    }
    let field;
    if (quote && text[at] === quote) {
      const begin = at;
      let piece = at + 1;
      field = '';
      for (;;) {
        const stop = nextOf(text, quote, escaped, piece);
        if (stop === -1) {
          errors.push({ type: 'Quotes', code: 'MissingQuotes', message: 'Quoted field unterminated', row: data.length, index: begin });
          field += text.slice(piece);
          at = end;
          break;
        }
        field += text.slice(piece, stop);
        if (text.startsWith(escaped + quote, stop)) {
          field += quote;
          piece = stop + escaped.length + quote.length;
          continue;
        }
        let after = stop + quote.length;
        const blank = /^[ ]*/.exec(text.slice(after, after + 1000))[0].length;
        const follows = (place) => place >= end || text.startsWith(delimiter, place) || text.startsWith(newline, place);
        if (!follows(after) && follows(after + blank)) after += blank;
        if (follows(after)) {
          at = after;
          break;
        }
        errors.push({ type: 'Quotes', code: 'InvalidQuotes', message: 'Trailing quote on quoted field is malformed', row: data.length, index: begin });
        field += quote;
        piece = stop + quote.length;
      }
    } else {
      let stop = text.indexOf(delimiter, at);
      const line = text.indexOf(newline, at);
      if (stop === -1 || (line !== -1 && line < stop)) stop = line;
      if (stop === -1) stop = end;
      field = text.slice(at, stop);
      at = stop;
    }
    row.push(field);
    if (at >= end) {
      data.push(row);
      row = [];
      break;
    }
    if (text.startsWith(newline, at)) {
      at += newline.length;
      data.push(row);
      row = [];
      if (full()) {
        truncated = at < end;
        break;
      }
      // A line feed at the end of the text begins an empty row, as each line feed does.
      if (at >= end) data.push(['']);
    } else {
      at += delimiter.length;
      if (at >= end) {
        row.push('');
        data.push(row);
        row = [];
      }
    }
  }
  return { data, errors, truncated, cursor: at };
}

function nextOf(text, quote, escaped, from) {
  const plain = text.indexOf(quote, from);
  if (escaped === quote) return plain;
  const before = text.indexOf(escaped + quote, from);
  return before !== -1 && before < plain ? before : plain;
}

function typed(value) {
  if (value === 'true' || value === 'TRUE') return true;
  if (value === 'false' || value === 'FALSE') return false;
  if (NUMBER.test(value) && Math.abs(Number(value)) < 2 ** 53) return Number(value);
  if (ISO_DATE.test(value)) return new Date(value);
  return value === '' ? null : value;
}

function parse(input, options = {}) {
  let text = String(input);
  if (text[0] === '\ufeff') text = text.slice(1);
  const config = { quoteChar: '"', preview: 0, ...options };
  if (config.quoteChar === null || config.quoteChar === undefined) config.quoteChar = options.quoteChar === null ? '' : '"';
  config.escapeChar = config.escapeChar ?? config.quoteChar;
  config.comments = config.comments === true ? '#' : config.comments || false;
  const errors = [];
  const newline = ['\n', '\r', '\r\n'].includes(config.newline) ? config.newline : guessNewline(text, config.quoteChar || '"');
  let delimiter = typeof config.delimiter === 'function' ? config.delimiter(text) : config.delimiter;
  if (!delimiter || BAD_DELIMITERS.includes(delimiter)) {
    delimiter = guessDelimiter(text, config, newline);
    if (!delimiter) {
      delimiter = ',';
      if (!options.delimiter) errors.push({ type: 'Delimiter', code: 'UndetectableDelimiter', message: "Unable to auto-detect delimiting character; defaulted to ','" });
    }
  }
  const skip = config.skipEmptyLines;
  // The header is a row that `preview` does not count.
  const preview = config.preview > 0 && config.header ? config.preview + 1 : config.preview;
  const parsed = rowsOf(text, { ...config, delimiter, newline, preview });
  errors.push(...parsed.errors);
  const rows = skip ? parsed.data.filter((row) => !isEmpty(row, skip === 'greedy')) : parsed.data;
  const meta = { delimiter, linebreak: newline, aborted: false, truncated: parsed.truncated, cursor: parsed.cursor };
  const convert = (value, column) => {
    const changed = config.transform ? config.transform(value, column) : value;
    const { dynamicTyping } = config;
    const wanted = typeof dynamicTyping === 'function' ? dynamicTyping(column)
      : typeof dynamicTyping === 'object' && dynamicTyping !== null ? dynamicTyping[column] ?? dynamicTyping.__default : dynamicTyping;
    return wanted ? typed(changed) : changed;
  };
  let data;
  if (config.header && rows.length > 0) {
    const fields = rows[0].map((name, at) => (config.transformHeader ? config.transformHeader(name, at) : name));
    meta.fields = fields;
    data = rows.slice(1).map((row, number) => {
      const object = {};
      row.forEach((value, at) => {
        if (at < fields.length) object[fields[at]] = convert(value, fields[at]);
        else (object.__parsed_extra = object.__parsed_extra || []).push(convert(value, '__parsed_extra'));
      });
      if (row.length !== fields.length) {
        const many = row.length > fields.length;
        errors.push({
          type: 'FieldMismatch',
          code: many ? 'TooManyFields' : 'TooFewFields',
          message: `Too ${many ? 'many' : 'few'} fields: expected ${fields.length} fields but parsed ${row.length}`,
          row: number,
        });
      }
      return object;
    });
  } else {
    data = rows.map((row) => row.map(convert));
  }
  const results = { data, errors, meta };
  if (typeof config.step === 'function') {
    let stopped = false;
    const parser = { abort() { stopped = true; }, pause() {}, resume() {} };
    for (const row of data) {
      config.step({ data: row, errors: [], meta }, parser);
      if (stopped) break;
    }
    const final = { data: [], errors, meta: { ...meta, aborted: stopped } };
    if (typeof config.complete === 'function') config.complete(final, input);
    return final;
  }
  if (typeof config.complete === 'function') config.complete(results, input);
  return results;
}

function unparse(input, options = {}) {
  const config = { quotes: false, delimiter: ',', newline: '\r\n', quoteChar: '"', header: true, skipEmptyLines: false, ...options };
  if (typeof config.delimiter !== 'string' || BAD_DELIMITERS.includes(config.delimiter)) config.delimiter = ',';
  const escaped = config.escapeChar ?? config.quoteChar;
  let source = typeof input === 'string' ? JSON.parse(input) : input;
  let fields = config.columns;
  if (!Array.isArray(source)) {
    if (typeof source !== 'object' || source === null) throw new Error('Unable to serialize unrecognized input');
    fields = fields || source.fields || source.meta?.fields;
    source = typeof source.data === 'string' ? JSON.parse(source.data) : source.data || [];
    if (source.length > 0 && !Array.isArray(source[0]) && typeof source[0] !== 'object') source = [source];
  }
  const objects = source.length > 0 && !Array.isArray(source[0]);
  if (!fields && objects) fields = Object.keys(source[0]);
  const field = (value, column) => {
    if (value === undefined || value === null) return '';
    const text = value instanceof Date ? JSON.stringify(value).slice(1, 25) : String(value);
    const doubled = text.replaceAll(config.quoteChar, escaped + config.quoteChar);
    const { quotes } = config;
    const wanted = typeof quotes === 'function' ? quotes(value, column) : Array.isArray(quotes) ? quotes[column] : quotes;
    const needed = wanted || [config.delimiter, '\r', '\n', config.quoteChar, '\ufeff'].some((one) => text.includes(one)) || /^ | $/.test(text);
    return needed ? config.quoteChar + doubled + config.quoteChar : text;
  };
  const lines = [];
  if (fields && fields.length > 0 && config.header) lines.push(fields.map((name, at) => field(name, at)).join(config.delimiter));
  for (const row of source) {
    const values = Array.isArray(row) ? row : fields.map((name) => row[name]);
    if (config.skipEmptyLines && values.join('').trim() === '' && (config.skipEmptyLines === 'greedy' || values.length <= 1)) continue;
    lines.push(values.map((value, at) => field(value, at)).join(config.delimiter));
  }
  return lines.join(config.newline);
}

const Papa = { parse, unparse, BAD_DELIMITERS, RECORD_SEP: '\x1e', UNIT_SEP: '\x1f', BYTE_ORDER_MARK: '\ufeff', WORKERS_SUPPORTED: false };
export { parse, unparse };
export default Papa;
