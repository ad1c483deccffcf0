//! Scripts with files of their own in whole runs: TypeScript, jslib, data, HTML, summaries.

mod common;

use common::{Ended, run_file};
use torr_k6::summary::text::Mode;
use torr_test_support::script::{OK, Script, answering};

fn run(files: &[(&str, &str)], mode: Option<Mode>, url: &str) -> (Ended, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("the name is below the folder")).expect("a folder can be made");
        std::fs::write(path, text.replace("FOLDER", &folder.path().to_string_lossy())).expect("a file can be written");
    }
    (run_file(&folder.path().join(files[0].0), mode, url), folder)
}

#[test]
fn typescript_with_modules_data_and_a_summary_of_its_own() {
    let main = r#"
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import { Counter } from 'k6/metrics';
import { Options } from 'k6/options';
import papaparse from 'https://jslib.k6.io/papaparse/5.1.1/index.js';
import { randomIntBetween } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
import { textSummary } from 'https://jslib.k6.io/k6-summary/0.0.2/index.js';
import { Kind, type Row } from './lib/types';
const helper = require('./lib/helper.js');

const rows = new SharedArray<Row>('rows', () => papaparse.parse(open('./data/rows.csv'), { header: true, dynamicTyping: true, skipEmptyLines: true }).data);
const sum: Counter = new Counter('sum');
export const options: Options = {
  scenarios: { rows: { executor: 'shared-iterations', vus: 2, iterations: rows.length } },
  thresholds: { checks: ['rate==1'], sum: ['count==60'] },
};
export function setup(): { token: string } { return { token: helper.token(Kind.Second) }; }
export default function (data: { token: string }): void {
  const row = rows[exec.scenario.iterationInTest];
  sum.add(row.n * 10);
  const response = http.get(`${__ENV.URL}/?n=${row.n}&r=${randomIntBetween(1, 9)}`, { headers: { Authorization: data.token } });
  check(response, { 'is ok': (r) => r.status === 200, 'has a token': () => data.token === 't-7' });
}
export function handleSummary(data: any) {
  return { 'FOLDER/summary.txt': textSummary(data, { indent: ' ', enableColors: false }), 'FOLDER/data.json': JSON.stringify(data) };
}
"#;
    let files = [
        ("main.ts", main),
        ("lib/types.ts", "export interface Row { n: number }\nexport enum Kind { First = 6, Second }\n"),
        ("lib/helper.js", "module.exports = { token: (kind) => 't-' + kind };"),
        ("data/rows.csv", "n,name\n1,a\n2,\"b, c\"\n3,d\n"),
    ];
    let server = Script::start(answering(OK));
    let (ended, folder) = run(&files, Some(Mode::Compact), &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    assert_eq!((ended.count("sum"), ended.count("http_reqs"), ended.count("iterations")), (60.0, 3.0, 3.0));
    let text = std::fs::read_to_string(folder.path().join("summary.txt")).expect("the summary is written");
    assert!(text.starts_with("     ✓ is ok\n     ✓ has a token\n"), "{text}");
    assert!(text.contains("   ✓ checks") && text.contains("100.00% 6 out of 6"), "{text}");
    assert!(folder.path().join("data.json").exists());
}

#[test]
fn a_form_is_filled_from_a_page() {
    let page = "<!DOCTYPE html><form action=\"/login\" method=\"post\"><input type=\"hidden\" name=\"csrf\" value=\"tok\">\
                <input name=\"user\"></form><a href=\"/next\">next</a>";
    let response: &'static str = Box::leak(
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}", page.len())
            .into_boxed_str(),
    );
    let server = Script::start(answering(response.as_bytes()));
    let main = "
import http from 'k6/http';
import { check } from 'k6';
import { parseHTML } from 'k6/html';
export const options = { thresholds: { checks: ['rate==1'] } };
export default function () {
  const response = http.get(__ENV.URL + '/');
  const token = response.html().find('input[name=csrf]').attr('value');
  check(token, { 'the token is read': (one) => one === 'tok', 'by parseHTML too': () => parseHTML(response.body).find('a').attr('href') === '/next' });
  const sent = response.submitForm({ fields: { user: 'me' } });
  check(sent, { 'the form is sent': (r) => r.status === 200 && r.request.body === 'csrf=tok&user=me' });
}";
    let (ended, _folder) = run(&[("main.js", main)], None, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    assert_eq!((ended.rate("checks"), ended.count("http_reqs")), (1.0, 2.0));
}

#[test]
fn an_exception_names_the_position_in_the_source() {
    let main = "interface Long {\n  a: string;\n}\nexport default function (): void {\n  const value: Long | null = null;\n  throw new Error('boom ' + value!);\n}\n";
    let (ended, _folder) = run(&[("main.ts", main)], None, "");
    assert_eq!(ended.end.exit_code, 0, "{}", ended.log);
    assert!(ended.log.contains("boom null") && ended.log.contains("/main.ts:6:"), "{}", ended.log);
}
