//! Requests and responses of scripts, byte by byte: what k6 sends and shows is sent and shown here.

mod common;

use common::run;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write;
use torr_test_support::script::{OK, Script, answering};

/// Returns a script whose default function has this body.
fn script(body: &str) -> String {
    format!(
        "import http from 'k6/http';
         const url = __ENV.URL;
         const same = (found, expected) => {{
             const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
             if (one !== other) throw new Error(`found ${{one}} for ${{other}}`);
         }};
         export default function () {{ {body} }}"
    )
}

#[test]
fn field_lines_are_sorted_and_methods_and_queries_are_as_written() {
    let server = Script::start(answering(OK));
    let ended = run(
        &script(
            r#"const headers = {'x-odd': 1, accept: '*/*', b: true, 'Transfer-Encoding': 'chunked', Host: 'h.test', Zz: 1};
               const sent = http.request('fooBar', url + 'a/../b?q=[1]{}|"<>\\^`', 'x', {headers, cookies: {c: '1'}});
               same(Object.keys(sent.request.headers).sort(), ['Accept', 'B', 'Cookie', 'Host', 'User-Agent', 'X-Odd', 'Zz']);
               http.get(url.replace('://', '://u:p%40@') + 'x y?q=a b', {headers: {Accept: 'a', Zz: 'z'}});
               http.del(url, '');"#,
        ),
        &server.url(),
    );
    ended.assert_quiet();
    let texts = server.texts();
    let host = server.url().replace("http://", "").replace('/', "");
    let agent = "User-Agent: Grafana k6/2.2.0";
    let fields = "Accept: */*\r\nB: true\r\nCookie: c=1\r\nX-Odd: 1\r\nZz: 1";
    let line = "fooBar /a/../b?q=[1]{}|\"<>\\^` HTTP/1.1\r\nHost: h.test";
    assert_eq!(texts[0], format!("{line}\r\n{agent}\r\nContent-Length: 1\r\n{fields}\r\n\r\nx"));
    let line = format!("GET /x%20y?q=a%20b HTTP/1.1\r\nHost: {host}\r\n{agent}");
    assert_eq!(texts[1], format!("{line}\r\nAccept: a\r\nAuthorization: Basic dTpwQA==\r\nZz: z\r\n\r\n"));
    assert_eq!(texts[2], format!("DELETE / HTTP/1.1\r\nHost: {host}\r\n{agent}\r\n\r\n"));
}

#[test]
fn cookies_are_sent_in_the_order_in_which_they_came() {
    let server = Script::start(|client| {
        while client.request().is_some() {
            let cookies = ["b=1; Path=/", "a=\"x y\"; Path=/", "c=1; Path=/deep", "b=2; Path=/", "bad=\"{1"];
            let lines: String = cookies.iter().map(|cookie| format!("Set-Cookie: {cookie}\r\n")).collect();
            client.send(format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n").as_bytes());
        }
    });
    let ended = run(
        &script(
            r#"const {a, bad} = http.get(url).cookies;
               same([a[0].value, a[0].path, bad], ['x y', '/', undefined]);
               http.get(url + 'deep/er', {cookies: {q: 'a b;c"', none: null, b: {value: '3', replace: true}}});
               const jar = http.cookieJar();
               same(jar.cookiesForURL(url), {b: ['2'], a: ['x y']});
               jar.delete(url, 'a');
               jar.set(url, 'e', 5, {path: '/', max_age: 100});
               same(jar.cookiesForURL(url), {b: ['2'], e: ['5']});
               try { jar.set(url, 'x', 1, {expires: 'soon'}); } catch (error) { same(error.name, 'GoError'); }
               jar.clear(url);
               same(jar.cookiesForURL(url), {});"#,
        ),
        &server.url(),
    );
    ended.assert_quiet();
    let second = &server.texts()[1];
    assert!(second.contains("\r\nCookie: q=\"a bc\"; b=3; c=1; a=\"x y\"\r\n"), "{second}");
}

#[test]
fn responses_have_the_reason_of_the_server_and_no_fields_of_the_connection() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let response: &[u8] = match &request[..10] {
                b"GET /none " => b"HTTP/1.1 299 \r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
                b"GET /own H" => b"HTTP/1.1 404 Gone Fishing\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                _ => b"HTTP/1.1 413 Request Entity Too Large\r\nConnection: close\r\nX-A: 1\r\n\r\nend",
            };
            client.send(response);
            if response.ends_with(b"end") {
                return;
            }
        }
    });
    let ended = run(
        &script(
            r#"const shown = (path) => { const r = http.get(url + path); return [r.status_text, Object.keys(r.headers).sort()]; };
               same(shown('none'), ['299 ', ['Connection', 'Content-Length']]);
               same(shown('own'), ['404 Gone Fishing', []]);
               same(shown('end'), ['413 Request Entity Too Large', ['X-A']]);"#,
        ),
        &server.url(),
    );
    ended.assert_quiet();
}

#[test]
fn content_codings_are_taken_off_or_are_an_error() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"hello").expect("memory takes all");
    let mut twice = ZlibEncoder::new(Vec::new(), Compression::default());
    twice.write_all(&packed.finish().expect("memory takes all")).expect("memory takes all");
    let twice = twice.finish().expect("memory takes all");
    let server = Script::start(move |client| {
        while let Some(request) = client.request() {
            let (coding, content): (_, &[u8]) = match &request[..10] {
                b"GET /twice" => ("gzip, deflate", &twice),
                b"GET /other" => ("identity, own", b"as it is"),
                _ => ("gzip", b"not gzip"),
            };
            let length = content.len();
            client.send(
                format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {length}\r\n\r\n").as_bytes(),
            );
            client.send(content);
        }
    });
    let ended = run(
        &script(
            r#"same([http.get(url + 'twice').body, http.get(url + 'other').body], ['hello', 'as it is']);
               const {status, body, error, error_code, headers} = http.get(url + 'broken');
               same([status, body, error_code, headers], [0, null, 1701, {}]);
               if (!error.startsWith('error decompressing response body')) throw new Error(error);
               same(http.get(url + 'broken', {responseType: 'none'}).status, 200);"#,
        ),
        &server.url(),
    );
    assert_eq!(ended.end.exit_code, 0);
    assert!(!ended.log.contains("stacktrace"), "{}", ended.log);
    assert_eq!((ended.count("http_reqs"), ended.rate("http_req_failed")), (4.0, 0.25));
}

#[test]
fn wrong_calls_send_nothing_and_have_a_response_without_a_request() {
    let server = Script::start(answering(OK));
    let ended = run(
        &script(
            r#"for (const params of [{timeout: 'x'}, {timeout: undefined}, {responseType: 'bad'}, {tags: {a: null}},
                       {compression: 'lzw'}, {responseCallback: 5}]) {
                   const {status, url: where, error_code, request, body} = http.get(url, params);
                   same([status, where, error_code, request, body], [0, '', 0, null, []]);
               }
               same(http.get(null).error_code, 1020);
               const [first, second, third] = http.batch([url, null, url]);
               same([first.status, first.error, second.error_code, third], [0, '', 1020, null]);
               same(http.batch({a: {}}).a.error, "batch request a doesn't have a url key");
               const named = (call) => { try { call(); } catch (error) { return error.name; } };
               same([() => http.batch(), () => http.batch('x'), () => http.setResponseCallback(5)].map(named),
                   ['GoError', 'GoError', 'GoError']);"#,
        ),
        &server.url(),
    );
    assert_eq!(ended.end.exit_code, 0);
    assert!(!ended.log.contains("stacktrace"), "{}", ended.log);
    assert_eq!((ended.log.matches("Request Failed").count(), ended.count("http_reqs")), (7, 0.0), "{}", ended.log);
    assert_eq!(ended.log.matches("A batch request failed").count(), 2, "{}", ended.log);
    assert!(server.texts().is_empty());
}

#[test]
fn requests_that_cannot_be_sent_are_counted() {
    let server = Script::start(answering(OK));
    let ended = run(
        &script(
            r#"for (const [where, error] of [['x', 'unsupported protocol scheme ""'], ['http://', 'http: no Host in request URL']]) {
                   const found = http.get(where);
                   same([found.status, found.error, found.error_code, found.url], [0, error, 1000, where]);
                   same([found.request.method, found.body], ['GET', null]);
               }
               same(http.get(url, {headers: {'a b': 1}}).error, 'net/http: invalid header field name "a b"');
               const [bad, good] = http.batch(['x', url]);
               same([bad.error_code, good.status], [1000, 200]);
               for (const timeout of [0, -5, NaN, Infinity]) {
                   same([http.get(url, {timeout}).error, http.get(url, {timeout}).error_code], ['request timeout', 1050]);
               }
               same(http.request().error_code, 1020);
               http.get(url, null, {headers: {A: 'b'}});
               http.post(url, 'ab', {headers: {'content-length': '7'}});"#,
        ),
        &server.url(),
    );
    assert_eq!(ended.end.exit_code, 0);
    assert!(!ended.log.contains("stacktrace"), "{}", ended.log);
    assert_eq!((ended.count("http_reqs"), server.texts().len()), (15.0, 3));
    for warning in ["only accepts a url and a params argument", "match the actual request body length of 2"] {
        assert!(ended.log.contains(warning), "{}", ended.log);
    }
}

#[test]
fn a_response_shows_its_request_as_the_script_wrote_it() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            client.send(match &request[..9] {
                b"POST /via" => b"HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n",
                _ => OK,
            });
        }
    });
    let ended = run(
        &script(
            r#"const {request, url: last} = http.post(url + 'via x', 'plain', {compression: 'gzip', cookies: {a: '1', b: 'x y'}});
               same([request.method, request.body, request.url, last], ['POST', 'plain', url + 'via%20x', url + 'to']);
               same(request.headers['Content-Encoding'], ['gzip']);
               same(request.cookies.b, [{name: 'b', value: 'x y', replace: false}]);
               const file = http.file('data', 'a.txt');
               same(file, {data: 'data', filename: 'a.txt', content_type: 'application/octet-stream'});
               same([http.TLS_1_2, http.OCSP_STATUS_GOOD], ['tls1.2', 'good']);"#,
        ),
        &server.url(),
    );
    ended.assert_quiet();
}

#[test]
fn the_data_of_setup_are_as_k6_hands_them_on() {
    let ended = run(
        "export function setup() { return {u: undefined, s: new Set([1]), m: new Map([['k', 2]]), f() {}, d: [undefined]}; }
         export default function (data) {
             const found = JSON.stringify(data);
             if (found !== '{\"u\":null,\"s\":[1],\"m\":[[\"k\",2]],\"d\":[null]}') throw new Error(found);
         }",
        "",
    );
    ended.assert_quiet();
}

#[test]
fn samples_have_the_tags_of_the_time_of_the_call() {
    let waiting = std::sync::Arc::new(std::sync::Barrier::new(2));
    let server = Script::start(move |client| {
        while let Some(request) = client.request() {
            if request.starts_with(b"GET /late") {
                waiting.wait();
            }
            client.send(OK);
        }
    });
    let script = r#"
        import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = {thresholds: {'http_reqs{at:call}': ['count==2'], 'http_reqs{at:end}': ['count==1']}};
        export default async function () {
            const { tags } = exec.vu.metrics;
            tags.at = 'call';
            const both = [1, 2].map((n) => http.asyncRequest('GET', __ENV.URL + 'late' + n));
            tags.at = 'end';
            await Promise.all(both);
            http.get(__ENV.URL);
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
}

#[test]
fn credentials_for_a_challenge_are_no_part_of_the_url() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let text = String::from_utf8_lossy(&request).into_owned();
            client.send(match text.contains("Authorization: Digest ") {
                true => OK,
                false => b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n",
            });
        }
    });
    let script = r#"
        import http from 'k6/http';
        const url = `${__ENV.URL}secret`;
        const given = url.replace('://', '://u:p@');
        const shown = url.replace('://', '://****:****@');
        export const options = {thresholds: {[`http_reqs{url:${url}}`]: ['count==2'], [`http_reqs{name:${shown}}`]: ['count==1']}};
        export default function () {
            const digest = http.get(given, {auth: 'digest'});
            if (digest.status !== 200 || digest.url !== url) throw new Error(digest.status + ' ' + digest.url);
            const basic = http.get(given);
            if (basic.status !== 401 || basic.url !== given) throw new Error(basic.status + ' ' + basic.url);
        }
    "#;
    let ended = run(script, &server.url());
    assert_eq!((ended.end.exit_code, &*ended.log), (0, ""));
}
