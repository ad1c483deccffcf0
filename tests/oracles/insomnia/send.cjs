// Sends the requests of an Insomnia export (version 4, JSON) with the code of Insomnia's command line, in the order of its keys:
// node send.cjs FOLDER EXPORT ENVIRONMENT, where FOLDER has the packages.
const { createRequire, Module } = require('node:module');
const path = require('node:path');
const { readFileSync, mkdtempSync } = require('node:fs');

const [folder, file, environment] = process.argv.slice(2);
const load = Module._load;
Module._load = function (name, ...rest) {
  return name.endsWith('node-libcurl') ? require('./libcurl.cjs') : load.call(this, name, ...rest);
};
process.env.INSOMNIA_DATA_PATH = mkdtempSync('data-');
const installed = createRequire(path.resolve(folder, 'package.json'));
const { getSendRequestCallbackMemDb } = installed('insomnia-send-request');
// Insomnia loads its tags by this name.
global.require = installed;
console.log = () => {};
// It says which tags are not installed.
const say = console.error;
console.error = console.warn = () => {};

const types = {
  workspace: 'Workspace',
  request: 'Request',
  request_group: 'RequestGroup',
  environment: 'Environment',
  cookie_jar: 'CookieJar',
};
const all = JSON.parse(readFileSync(file)).resources.filter(one => types[one._type]);
const docs = { Settings: [] };
for (const { _type, ...one } of all) {
  (docs[types[_type]] ??= []).push({ ...one, type: types[_type], created: 1, modified: 1 });
}
const by = Object.fromEntries(all.map(one => [one._id, one]));
const keys = one => (one && one._type !== 'workspace' ? [...keys(by[one.parentId]), one.metaSortKey] : []);
const compare = (one, other) => {
  const at = one.findIndex((key, at) => key !== other[at]);
  return at < 0 ? 0 : one[at] - other[at];
};
(async () => {
  const send = await getSendRequestCallbackMemDb(environment, docs, { validateSSL: false });
  const requests = (docs.Request || []).map(one => [keys(by[one._id]), one._id]);
  for (const [, id] of requests.sort((one, other) => compare(one[0], other[0]))) {
    const { status } = await send(id);
    if (!status) throw new Error(`no response to ${id}`);
  }
  process.exit(0);
})().catch(error => {
  say(error);
  process.exit(1);
});
