// Lines of the console.
export default function () {
  console.log('text', 1, 1.5, true, null, undefined);
  console.log(['a', 1]);
  console.log({ a: 1, b: { c: [1, 'x'] } });
  console.info('info');
  console.warn('warn');
  console.error('error');
  console.debug('debug');
  console.log('two\nlines', 'and "quotes"');
  console.log();
  console.log(new Error('an error').message, `${new Error('an error')}`);
}
