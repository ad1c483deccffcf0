//! Whole scripts against servers of the tests' own.

mod common;

use common::{echo, run, run_as, run_with};
use torr_k6::run::{RunSettings, StopCause, SummarySettings};
use torr_k6::summary::text::Mode;
use torr_test_support::script::{OK, Script, answering};

#[test]
fn a_script_runs_from_its_first_pass_to_its_summary() {
    let server = Script::start(answering(OK));
    let script = r#"
        import http from 'k6/http';
        export const options = {scenarios: {s: {executor: 'per-vu-iterations', vus: 3, iterations: 4}}};
        export function setup() { return {n: http.get(__ENV.URL + 'setup').body.length, f() {}}; }
        let seen;
        export default function (data) {
            if (data.n !== 2 || data.f !== undefined || (seen && seen !== data)) throw new Error('wrong data');
            seen = data;
            const res = http.get(__ENV.URL + 'page');
            if (res.status !== 200 || res.body !== 'ok' || res.json !== res.json) throw new Error('status ' + res.status);
            if (res.timings.duration <= 0 || res.headers['Content-Length'] !== '2') throw new Error('no timings');
            if (__ITER > 3 || __VU < 1 || __VU > 3) throw new Error('numbers');
        }
        export function teardown(data) { http.post(__ENV.URL + 'teardown', JSON.stringify(data)); }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    assert_eq!((ended.count("http_reqs"), ended.count("iterations")), (14.0, 12.0));
    // Each virtual user has a connection of its own, as have setup and teardown.
    assert_eq!(server.connections(), 5);
    let texts = server.texts();
    assert!(texts[0].starts_with("GET /setup HTTP/1.1\r\nHost: 127.0.0.1:"), "{}", texts[0]);
    let last = texts.last().expect("there are requests");
    assert!(last.starts_with("POST /teardown ") && last.ends_with("\r\n\r\n{\"n\":2}"), "{last}");
    assert!(last.contains("\r\nUser-Agent: Grafana k6/") && last.contains("\r\nContent-Length: 7\r\n"), "{last}");
}

#[test]
fn an_error_in_an_iteration_is_logged_and_the_next_one_begins() {
    let script = r#"
        export const options = {iterations: 3};
        export default function () { throw new TypeError('it is broken'); }
    "#;
    let ended = run(script, "");
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (0, 3.0));
    assert_eq!(ended.log.matches("it is broken").count(), 3, "{}", ended.log);
    assert!(ended.log.contains(":3:"), "{}", ended.log);
}

#[test]
fn forms_headers_and_bodies_are_sent_as_k6_sends_them() {
    let server = Script::start(echo());
    let script = r#"
        import http, {file} from 'k6/http';
        export default function () {
            const url = __ENV.URL;
            http.post(url + 'form', {b: 'x y&', a: [1, 'z'], n: null, o: {k: 1.5}}, {headers: {'x-odd-CASE': 5, und: undefined}});
            http.put(url + 'raw', new Uint8Array([65, 66]).buffer, {headers: {'Content-Type': 'text/x'}});
            http.del(url + 'del', null, {headers: {Host: 'other.test'}});
            http.post(url + 'file', {f: file('data', 'a.txt', 'text/plain'), other: 'v'});
            http.request('patch', url + 'patch');
            http.get(http.url`${url}x/${7}`);
            const twice = http.post(url + 'json', '{"a": [1, {"b": "c"}]}');
            if (twice.json('a.1.b') !== 'c' || twice.json().a[0] !== 1 || twice.json('a.#') !== 2) throw new Error('json');
            if (twice.json('zz') !== undefined) throw new Error('missing');
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    let texts = server.texts();
    let has = |at: usize, parts: &[&str]| {
        for part in parts {
            assert!(texts[at].contains(part), "{part:?} is not in {}", texts[at]);
        }
    };
    has(0, &["POST /form ", "\r\nX-Odd-Case: 5\r\n", "\r\nUnd: undefined\r\n", "x-www-form-urlencoded"]);
    has(0, &["\r\n\r\na=1&a=z&b=x+y%26&n=%3Cnil%3E&o=map%5Bk%3A1.5%5D"]);
    has(1, &["PUT /raw ", "\r\nContent-Type: text/x\r\n", "\r\n\r\nAB"]);
    has(2, &["DELETE /del ", "\r\nHost: other.test\r\n"]);
    has(
        3,
        &[
            "multipart/form-data; boundary=",
            "name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\ndata\r\n",
        ],
    );
    // A method is sent as it is written.
    has(4, &["patch /patch HTTP/1.1\r\n"]);
    has(5, &["GET /x/7 "]);
}

#[test]
fn bodies_of_odd_values_are_sent_or_refused() {
    let server = Script::start(echo());
    let script = r#"
        import http, {file} from 'k6/http';
        export default function () {
            const url = __ENV.URL, endless = {}, long = [];
            endless.own = endless;
            long.length = 4e9;
            // Half of a character of two halves.
            http.post(url + 'half', 'a\ud800b');
            http.post(url + 'no-view', {buffer: new ArrayBuffer(8), byteOffset: 1e300, byteLength: 1e300});
            for (const body of [{endless}, {endless, f: file('data')}, {long}, {long, f: file('data')}, {deep: [long]}]) {
                try { http.post(url + 'endless', body); } catch (error) { console.log(String(error)); }
            }
            try { http.url(long); } catch (error) { console.log(String(error)); }
        }
    "#;
    let ended = run(script, &server.url());
    let refused = ["nested", "an array must have at most"].map(|why| ended.log.matches(why).count());
    assert_eq!(refused, [2, 4], "{}", ended.log);
    let texts = server.texts();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].ends_with("\r\n\r\na\u{fffd}b"), "{}", texts[0]);
    assert!(texts[1].contains("x-www-form-urlencoded") && texts[1].contains("byteLength=1e%2B300"), "{}", texts[1]);
}

#[test]
fn no_value_ends_its_part_of_a_request() {
    let server = Script::start(answering(OK));
    let script = r#"
        import http from 'k6/http';
        export default function () {
            const url = __ENV.URL;
            console.log('error=' + http.request('GET /x HTTP/1.1\r\na', url + 'method').error);
            http.request('', url + 'empty');
            http.cookieJar().set(url, 'e\r\nf', 'g\r\nh: i');
            http.get(url + 'cookies', {cookies: {'a\r\nb': 'c\r\nd: e'}});
        }
    "#;
    let ended = run(script, &server.url());
    assert!(ended.log.contains("error=net/http: invalid method "), "{}", ended.log);
    let texts = server.texts();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].starts_with("GET /empty HTTP/1.1\r\n"), "{}", texts[0]);
    assert!(texts[1].contains("\r\nCookie: a--b=\"cd: e\"; e--f=\"gh: i\"\r\n"), "{}", texts[1]);
}

#[test]
fn redirects_cookies_and_digest_take_further_requests() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let text = String::from_utf8_lossy(&request).into_owned();
            let response: &[u8] = match text.split(' ').nth(1) {
                Some("/login") => b"HTTP/1.1 302 Found\r\nLocation: /home\r\nSet-Cookie: sid=7; Path=/\r\nContent-Length: 0\r\n\r\n",
                Some("/loop") => b"HTTP/1.1 307 Temporary\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n",
                Some("/secret") if !text.contains("Authorization: Digest username=\"u\"") => {
                    b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"
                }
                _ => OK,
            };
            client.send(response);
        }
    });
    let script = r#"
        import http from 'k6/http';
        export const options = {iterations: 2};
        export default function () {
            const url = __ENV.URL;
            const res = http.post(url + 'login', {user: 'a'});
            if (res.url !== url + 'home' || res.status !== 200 || res.request.method !== 'POST') throw new Error(res.url);
            if (http.cookieJar().cookiesForURL(url).sid[0] !== '7') throw new Error('no cookie');
            http.get(url + 'a', {cookies: {own: 'x'}});
            if (http.get(url + 'loop', {redirects: 2}).status !== 307) throw new Error('loop');
            if (http.get(url + 'login', {redirects: 0}).cookies.sid[0].value !== '7') throw new Error('redirects');
            const own = new http.CookieJar();
            own.set(url, 'mine', 'y');
            http.get(url + 'jar', {jar: own});
            const secret = http.get(url.replace('://', '://u:p@') + 'secret', {auth: 'digest'});
            if (secret.status !== 200) throw new Error('digest ' + secret.status);
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    assert_eq!(ended.count("http_reqs"), 2.0 * 10.0);
    assert_eq!(ended.rate("http_req_failed"), 0.0);
    let texts = server.texts();
    assert!(texts[0].starts_with("POST /login") && !texts[0].contains("Cookie:"), "{}", texts[0]);
    assert!(texts[1].starts_with("GET /home") && texts[1].contains("\r\nCookie: sid=7\r\n"), "{}", texts[1]);
    assert!(texts[2].contains("\r\nCookie: own=x; sid=7\r\n"), "{}", texts[2]);
    let jar = texts.iter().find(|text| text.starts_with("GET /jar")).expect("it was sent");
    assert!(jar.contains("\r\nCookie: mine=y\r\n"), "{jar}");
    // The jar is empty at the beginning of an iteration.
    assert!(!texts[10].contains("Cookie:"), "{}", texts[10]);
}

#[test]
fn batches_and_promises_have_requests_in_flight_together() {
    // No response comes before all requests of the batch are there.
    let waiting = std::sync::Arc::new(std::sync::Barrier::new(4));
    let server = Script::start(move |client| {
        while let Some(request) = client.request() {
            if request.starts_with(b"GET /together") {
                waiting.wait();
            }
            client.send(OK);
        }
    });
    let script = r#"
        import http from 'k6/http';
        export default async function () {
            const url = __ENV.URL;
            const all = http.batch([url + 'together1', ['GET', url + 'together2'], {url: url + 'together3'}, url + 'together4']);
            if (all.length !== 4 || all.some(r => r.status !== 200)) throw new Error('batch');
            const named = http.batch({a: url + 'a', b: ['POST', url + 'b', 'x']});
            if (named.a.status !== 200 || !named.b.url.endsWith('b')) throw new Error('named');
            const promises = [1, 2, 3, 4].map(n => http.asyncRequest('GET', url + 'together' + n));
            const results = await Promise.all(promises);
            if (results.some(r => r.body !== 'ok')) throw new Error('promises');
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    assert_eq!(ended.count("http_reqs"), 10.0);
}

#[test]
fn failures_have_numbers_and_texts() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            match &request[..10] {
                b"GET /close" => return,
                b"GET /never" => while client.request().is_some() {},
                _ => client.send(OK),
            }
        }
    });
    let script = r#"
        import http from 'k6/http';
        function expect(res, code, part) {
            if (res.status !== 0 || res.error_code !== code || !res.error.includes(part) || res.body !== null) {
                throw new Error(`${code}: ${res.status} ${res.error_code} ${res.error}`);
            }
        }
        export default function () {
            expect(http.get('http://127.0.0.1:1/'), 1212, 'dial: connection refused');
            expect(http.get(__ENV.URL + 'never', {timeout: 60}), 1050, 'request timeout');
            expect(http.get('http://no.such.host.invalid/'), 1101, 'lookup: no such host');
            expect(http.get('some where'), 1000, 'unsupported protocol scheme ""');
            const noUrl = http.get('http://a b/');
            if (noUrl.error_code !== 1020 || !noUrl.error.includes('invalid URL')) throw new Error(noUrl.error);
            expect(http.get(__ENV.URL + 'close'), 1000, 'EOF');
            const wrong = http.post(__ENV.URL, [1]);
            if (!wrong.error.includes('unknown request body type') || wrong.error_code !== 0) throw new Error(wrong.error);
            if (wrong.request !== null || wrong.url !== '' || wrong.body.length !== 0) throw new Error('a request');
            let caught;
            try { http.get('http://127.0.0.1:1/', {throw: true}); } catch (e) { caught = e; }
            if (!String(caught).includes('connection refused')) throw new Error('not thrown');
            try { http.get('http://127.0.0.1:1/').json(); caught = null; } catch (e) { caught = e; }
            if (!caught) throw new Error('json of nothing');
            if (http.get(__ENV.URL).status !== 200) throw new Error('no recovery');
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!(ended.end.exit_code, 0);
    assert!(!ended.log.contains("stacktrace"), "{}", ended.log);
    assert_eq!(ended.log.matches("Request Failed").count(), 8, "{}", ended.log);
    assert_eq!(ended.count("iterations"), 1.0);
}

#[test]
fn sleeps_and_endless_code_are_interrupted_at_the_end() {
    let script = r#"
        export const options = {scenarios: {
            sleeps: {executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s', exec: 'long'},
            loops: {executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s', exec: 'endless'},
        }};
        export async function long() { try { await new Promise(resolve => setTimeout(resolve, 1e9)); } catch (e) { console.log('caught'); } }
        export function endless() { for (;;) { try { for (;;) {} } catch (e) { console.log('caught'); } } }
    "#;
    let ended = run(script, "");
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    assert_eq!(ended.count("iterations"), 0.0);
}

#[test]
fn a_stop_interrupts_iterations_and_teardown_still_runs() {
    let server = Script::start(answering(OK));
    let script = r#"
        import http from 'k6/http';
        export const options = {vus: 2, duration: '10h'};
        export default async function () { http.get(__ENV.URL); await new Promise(resolve => setTimeout(resolve, 1e9)); }
        export function teardown() { http.get(__ENV.URL + 'teardown'); }
    "#;
    let url = server.url();
    let ended = run_with(script, &url, |shared| {
        while server.requests() < 2 {
            std::thread::yield_now();
        }
        shared.control.stop(StopCause::Interrupted);
    });
    assert_eq!(ended.end.exit_code, 105);
    assert_eq!(ended.count("iterations"), 0.0);
    assert!(server.texts().last().is_some_and(|text| text.starts_with("GET /teardown")));
}

#[test]
fn errors_of_stages_have_exit_codes() {
    let ended = run("export function setup() { throw new Error('no data'); } export default () => {};", "");
    assert_eq!(ended.end.exit_code, 107);
    assert!(ended.log.contains("no data"), "{}", ended.log);
    assert_eq!(ended.count("iterations"), 0.0);
    let ended = run("export function teardown() { throw new Error('late'); } export default () => {};", "");
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (107, 1.0));
    let stuck = "export const options = {setupTimeout: '50ms'}; export function setup() { for (;;) {} } export default () => {};";
    assert_eq!(run(stuck, "").end.exit_code, 100);
    let one = "if (__VU === 2) throw new Error('second'); export const options = {vus: 2, iterations: 2}; export default () => {};";
    let ended = run(one, "");
    assert_eq!(ended.end.exit_code, 107);
    assert!(ended.log.contains("second") && ended.log.contains("VU 2"), "{}", ended.log);
}

#[test]
fn pages_have_forms_and_links() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let page = "<html><body><form action='/send?x=1' method='post'><input type='hidden' name='token' value='t&amp;1'>\
                        <input name='user'><input type='submit' name='go' value='Go'></form>\
                        <form id='search' action='find'><input name='q' value='a b'></form><a href='next'>n</a></body></html>";
            let body = if request.starts_with(b"GET /dir/page") { page } else { "ok" };
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let script = r#"
        import http from 'k6/http';
        export default function () {
            const res = http.get(__ENV.URL + 'dir/page');
            if (res.html().find('input[name=token]').attr('value') !== 't&1') throw new Error('html');
            if (res.html('a').text() !== 'n') throw new Error('selector');
            res.submitForm({fields: {user: 'me'}});
            res.submitForm({formSelector: '#search'});
            res.clickLink({params: {headers: {'X-A': 'b'}}});
            try { res.clickLink({selector: '.none'}); throw new Error('no error'); } catch (e) {
                if (!e.message.includes('no element found')) throw e;
            }
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    let texts = server.texts();
    assert!(
        texts[1].starts_with("POST /send?x=1 ") && texts[1].ends_with("\r\n\r\ngo=Go&token=t%261&user=me"),
        "{}",
        texts[1]
    );
    assert!(texts[2].starts_with("GET /dir/find?q=a+b "), "{}", texts[2]);
    assert!(texts[3].starts_with("GET /dir/next ") && texts[3].contains("\r\nX-A: b\r\n"), "{}", texts[3]);
}

#[test]
fn compressed_responses_arrive_as_they_were() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            // A request with content coded by gzip comes back with that coding.
            let at = request.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| at + 4);
            let body = &request[at..];
            client.send(
                format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len())
                    .as_bytes(),
            );
            client.send(body);
        }
    });
    let script = r#"
        import http from 'k6/http';
        import {check, group} from 'k6';
        export const options = {thresholds: {checks: ['rate==1'], 'http_req_duration{group:::g}': ['p(95)<60000']}};
        export default function () {
            group('g', () => {
                const res = http.post(__ENV.URL, 'some text', {compression: 'gzip', tags: {name: 'posted'}});
                check(res, {'is back': r => r.body === 'some text', 'is coded': r => r.headers['Content-Encoding'] === 'gzip'});
                const bytes = http.post(__ENV.URL, 'some text', {compression: 'gzip', responseType: 'binary'}).body;
                check(bytes, {'is binary': b => b.byteLength === 9});
                check(http.post(__ENV.URL, 'x', {compression: 'gzip', responseType: 'none'}), {'is null': r => r.body === null});
            });
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
    assert_eq!(ended.rate("checks"), 1.0);
    assert!(ended.end.summary.metrics.contains_key("http_req_duration{group:::g}"));
}

#[test]
fn virtual_users_see_the_options_of_the_run() {
    let script = r#"
        export const options = {vus: '2', iterations: 2, tags: {a: 'b'}};
        export default function () {
            if (options.vus !== 2 || options.iterations !== 2 || options.tags.a !== 'b') throw new Error(JSON.stringify(options));
        }
    "#;
    let ended = run(script, "");
    assert_eq!((ended.end.exit_code, &*ended.log, ended.count("iterations")), (0, "", 2.0));
    let frozen = "export const options = Object.freeze({iterations: 1}); export default () => {};";
    assert_eq!(&*run(frozen, "").log, "");
}

#[test]
fn what_ends_or_fails_a_test_is_in_the_log() {
    let script = |call: &str| {
        format!(
            "import exec from 'k6/execution'; import {{check}} from 'k6';
             export const options = {{iterations: 2, thresholds: {{iterations: ['count>9'], checks: ['rate>0.9']}}}};
             export default function () {{ check(1, {{no: false}}); {call} }}"
        )
    };
    let crossed = run(&script(""), "");
    assert_eq!(crossed.end.exit_code, 99);
    assert!(crossed.log.contains("thresholds on metrics 'checks, iterations' have been crossed"), "{}", crossed.log);
    let aborted = run(&script("exec.test.abort('why');"), "");
    assert_eq!(aborted.end.exit_code, 108);
    assert!(aborted.log.contains("\"test aborted: why\""), "{}", aborted.log);
    let failed = run(&script("if (__ITER === 0) exec.test.fail('bad');"), "");
    assert_eq!(failed.end.exit_code, 110);
    for text in ["\"test marked as failed: bad\"", "\"test run was marked as failed\""] {
        assert!(failed.log.contains(text), "{text}: {}", failed.log);
    }
}

#[test]
fn a_summary_that_is_wrong_in_part_is_written_for_the_rest() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("summary.txt");
    let script = format!(
        "export default function () {{}}
         export function handleSummary() {{ return {{stdout: 5, {path:?}: 'text'}}; }}"
    );
    let summary = SummarySettings { mode: Some(Mode::Compact), ..SummarySettings::default() };
    let ended = run_as(&script, "", RunSettings { summary, ..RunSettings::default() });
    assert_eq!(ended.end.exit_code, 0);
    assert!(ended.log.contains("'stdout' is neither"), "{}", ended.log);
    assert_eq!(std::fs::read_to_string(&path).expect("the file was written"), "text");
}
