//! Bruno's command line as an oracle: a collection in each of its formats, and what is imported of it, send the same requests.

use crate::compare::{Compared, assert_same, compared};
use crate::echo::{Arrived, Echo};
use crate::newman::ORACLES;
use crate::walk;
use std::path::Path;
use std::process::Command;
use torr_test_support::program::Running;

/// Fields that Bruno adds to every request.
const OWN: &[&str] = &["accept", "accept-encoding", "request-start-time"];

/// Encodes the URL, as Bruno does for requests that it creates.
const ENCODED: &str = "settings {\n  encodeUrl: true\n}\n";

/// Requests: a name, method, URL, kind of content, kind of authentication, and other blocks.
const REQUESTS: &[(&str, &str, &str, &str, &str, &str)] = &[
    ("query", "get", "{{host}}/plain?a=b%20c&d=e f&x={}|\"'#part", "none", "none", ""),
    ("encoded", "get", "{{host}}/a b/%C3%A9%20x/(y)?a=b%20c&d=e f&p=a+b&q=1=2&&=z&flag", "none", "none", ENCODED),
    ("values", "get", "{{host}}/x/{{text}}/y?q={{text}}&n={{number}}", "none", "none", ENCODED),
    ("values as they are", "get", "{{host}}/x/{{text}}/y?q={{text}}", "none", "none", ""),
    ("fragment", "get", "{{host}}/f?x=1#part", "none", "none", ENCODED),
    (
        "path",
        "delete",
        "{{host}}/things/:id//sub/:none/:number?x=1 2",
        "none",
        "none",
        "params:path {\n  id: 7 8\n  number: {{number}}\n}\n",
    ),
    ("odata", "get", "{{host}}/Set(':k')/x", "none", "none", "params:path {\n  k: 7\n}\n"),
    (
        "json",
        "post",
        "{{host}}/json",
        "json",
        "none",
        "body:json {\n  {\n    // one\n    \"a\": {{number}}, \"b\": \"{{text}}\", \"u\": \"http://x\" // two\n  }\n}\n",
    ),
    ("json that is none", "post", "{{host}}/json", "json", "none", "body:json {\n  {\"a\": \"{{quoted}}\"}\n}\n"),
    ("json of get", "get", "{{host}}/json", "json", "none", "body:json {\n   {\"a\": [1, 2]}  \n}\n"),
    ("json without text", "post", "{{host}}/json", "json", "none", ""),
    (
        "media type",
        "post",
        "{{host}}/own",
        "json",
        "none",
        "headers {\n  Content-Type: application/vnd.a+json\n}\n\nbody:json {\n   {\"a\": 1} \n}\n",
    ),
    ("text", "post", "{{host}}/text", "text", "none", "body:text {\n  line {{number}}\n    two\n}\n"),
    (
        "text of a form",
        "post",
        "{{host}}/text",
        "text",
        "none",
        "headers {\n  Content-Type: application/x-www-form-urlencoded\n}\n\nbody:text {\n  a={{number}}&b=2\n}\n",
    ),
    ("xml", "put", "{{host}}/xml", "xml", "none", "body:xml {\n  <a>\n    <b>{{number}}</b>\n  </a>\n}\n"),
    (
        "form",
        "post",
        "{{host}}/form",
        "formUrlEncoded",
        "none",
        "body:form-urlencoded {\n  \"a b\": c+d \u{e9}*'()~!\n  ~off: x\n  e: \n  v: {{text}}\n  {{number}}: k\n}\n",
    ),
    (
        "plain form",
        "post",
        "{{host}}/form",
        "formUrlEncoded",
        "none",
        "body:form-urlencoded {\n  a: c&d\n  n: {{number}}\n}\n",
    ),
    (
        "parts",
        "post",
        "{{host}}/parts",
        "multipartForm",
        "none",
        "body:multipart-form {\n  a: b c\n  f: @file(a.txt)\n  v: {{number}}\n  j: @file(a.txt) @contentType(application/x)\n  \
         ~z: 1\n  m: '''\n    one\n    two\n  '''\n}\n",
    ),
    (
        "file",
        "post",
        "{{host}}/file",
        "file",
        "none",
        "body:file {\n  ~file: @file(b.txt)\n  file: @file(a.txt) @contentType(text/x)\n}\n",
    ),
    (
        "graphql",
        "post",
        "{{host}}/graphql",
        "graphql",
        "none",
        "body:graphql {\n  query q($x: Int) {\n    a(b: \"{{number}}\")\n  }\n}\n\nbody:graphql:vars {\n  {\"x\": {{number}}, \
         \"y\": \"{{text}}\"}\n}\n",
    ),
    (
        "parts with media types",
        "post",
        "{{host}}/parts",
        "multipartForm",
        "none",
        "body:multipart-form {\n  a: b c\n  j: {\"n\": {{number}}} @contentType(application/json)\n}\n",
    ),
    ("empty query", "get", "{{host}}/q?", "none", "none", ""),
    ("nothing", "post", "{{host}}/nothing", "none", "none", ""),
    ("basic", "get", "{{host}}/auth", "none", "basic", "auth:basic {\n  username: mia\n  password: pw\n}\n"),
    ("inherited", "get", "{{host}}/auth", "none", "inherit", ""),
    (
        "oauth",
        "get",
        "{{host}}/auth",
        "none",
        "oauth2",
        "auth:oauth2 {\n  grant_type: client_credentials\n  access_token_url: {{host}}/token\n  client_id: my id\n  client_secret: s\n  \
         scope: a b\n  token_header_prefix: Bearer\n}\n",
    ),
    (
        "key",
        "get",
        "{{host}}/auth",
        "none",
        "apikey",
        "auth:apikey {\n  key: X-Key\n  value: {{number}}\n  placement: header\n}\n",
    ),
    (
        "fields",
        "get",
        "{{host}}/fields",
        "none",
        "none",
        "headers {\n  X-Over: own\n  x-over: last\n  X-{{number}}: a{{text}}\n  X-Empty: \n  ~X-Off: 1\n}\n",
    ),
    (
        "capture",
        "get",
        "{{host}}/capture",
        "none",
        "none",
        "vars:post-response {\n  token: res.body.token\n}\n\nassert {\n  res.status: eq 200\n  res.body.id: gt {{number}}\n}\n\n\
         script:post-response {\n  const data = res.getBody();\n  const id = data.id;\n  bru.setVar(\"id\", id);\n}\n\ntests {\n  test(\"ok\", function() {\n    \
         expect(res.getStatus()).to.equal(200);\n  });\n}\n",
    ),
    ("captured", "post", "{{host}}/use/{{token}}?i={{id}}", "json", "none", "body:json {\n  {\"id\": {{id}}}\n}\n"),
    (
        "own variables",
        "get",
        "{{host}}/{{over}}/{{mine}}",
        "none",
        "none",
        "vars:pre-request {\n  over: request\n  mine: {{over}}-x\n}\n",
    ),
    ("variables", "get", "{{host}}/{{over}}/{{ over }}", "none", "none", ""),
];

/// A collection in YAML, with what the two formats spell in different ways.
const YAML: &[(&str, &str)] = &[
    (
        "opencollection.yml",
        "opencollection: 1.0.0\ninfo:\n  name: c\nrequest:\n  headers:\n    - name: X-Over\n      value: collection\n  auth:\n    \
         type: bearer\n    token: \"{{text}}\"\n  variables:\n    - name: n\n      value:\n        type: number\n        data: \"1.50\"\n",
    ),
    (
        "inner/folder.yml",
        "info:\n  name: inner\n  type: folder\nrequest:\n  headers:\n    - name: X-Over\n      value: folder\n  auth:\n    type: basic\n    \
         username: mia\n    password: pw\n",
    ),
    (
        "inner/a.yml",
        "info:\n  name: a\n  type: http\n  seq: 1\nhttp:\n  method: GET\n  url: \"{{host}}/a/:id?q=a b\"\n  params:\n    - name: id\n      \
         value: a/b c\n      type: path\n    - name: q\n      value: a b\n      type: query\n  auth: inherit\nsettings:\n  encodeUrl: true\n",
    ),
    (
        "b.yml",
        "info:\n  name: b\n  type: http\n  seq: 2\nhttp:\n  method: POST\n  url: \"{{host}}/b\"\n  body:\n    type: json\n    data: |-\n      \
         {\n        \"n\": {{n}} // c\n      }\n  auth: inherit\n",
    ),
    (
        "c.yml",
        "info:\n  name: c\n  type: graphql\n  seq: 1\ngraphql:\n  method: POST\n  url: \"{{host}}/c\"\n  body:\n    query: \"{ a }\"\n    \
         variables: '{\"x\": \"{{text}}\"}'\n  auth: none\n",
    ),
    (
        "d.yml",
        "info:\n  name: d\n  type: http\n  seq: 3\nhttp:\n  method: POST\n  url: \"{{host}}/d\"\n  headers:\n    - name: X-Off\n      \
         value: \"1\"\n      disabled: true\n  body:\n    type: form-urlencoded\n    data:\n      - name: a\n        value: b c\n      \
         - name: off\n        value: x\n        disabled: true\n  auth:\n    type: apikey\n    key: X-Key\n    value: k\n    placement: header\n\
         runtime:\n  actions:\n    - type: set-variable\n      phase: after-response\n      selector:\n        expression: res.body.id\n        \
         method: jsonq\n      variable:\n        name: id\n        scope: runtime\n",
    ),
    (
        "e.yml",
        "info:\n  name: e\n  type: http\n  seq: 4\nhttp:\n  method: PUT\n  url: \"{{host}}/e/{{id}}\"\n  body:\n    type: multipart-form\n    \
         data:\n      - name: a\n        type: text\n        value: b c\n      - name: f\n        type: file\n        value:\n          \
         - a.txt\n",
    ),
];

/// Responds with an object that the collections capture.
fn respond(_: &Arrived) -> Option<Vec<u8>> {
    let body = "{\"token\":\"t0k\",\"access_token\":\"a\",\"id\":7}";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length";
    Some(format!("{head}: {}\r\n\r\n{body}", body.len()).into_bytes())
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("there is room");
    std::fs::write(path, text).expect("there is room");
}

/// Runs a collection with Bruno, and with Torr what is imported of it, and returns what each has sent.
fn sent(folder: &Path, echo: &Echo, secrets: &[(&str, &str)]) -> (Vec<Compared>, Vec<Compared>) {
    let oracles = std::env::var(ORACLES).expect("./test full sets it");
    let mut bruno = Command::new(Path::new(&oracles).join("node_modules/.bin/bru"));
    bruno.args(["run", "--env", "local"]).current_dir(folder);
    let ended = Running::start(bruno).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = compared(echo.take(), OWN);
    let imported = walk::import(folder, &["bruno", ".", "--env", "local"]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    (walk::once(folder, echo, secrets, OWN), expected)
}

fn check(sent: &[Compared], expected: &[Compared], count: usize) {
    assert_same(sent, expected);
    assert_eq!(expected.len(), count, "{expected:?}");
}

#[test]
#[ignore = "Bruno is installed by ./test full"]
fn what_is_imported_sends_what_bruno_sends() {
    let echo = Echo::responding(respond);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    write(folder, "bruno.json", "{\"version\": \"1\", \"name\": \"c\", \"type\": \"collection\"}");
    write(folder, "a.txt", "file\n");
    let root = "headers {\n  X-Over: collection\n  X-Collection: c\n}\n\nauth {\n  mode: bearer\n}\n\nauth:bearer {\n  token: {{number}}\n}\n\n\
                vars:pre-request {\n  over: collection\n}\n";
    write(folder, "collection.bru", root);
    let environment = format!(
        "vars {{\n  host: {}\n  text: a b&c\n  number: 5\n  quoted: say \"hi\"\n  over: environment\n}}\n",
        echo.origin
    );
    write(folder, "environments/local.bru", &environment);
    let request = |at: usize, name: &str, method: &str, url: &str, body: &str, auth: &str, rest: &str| {
        let kind = if body == "graphql" { "graphql" } else { "http" };
        format!(
            "meta {{\n  name: {name}\n  type: {kind}\n  seq: {}\n}}\n\n{method} {{\n  url: {url}\n  body: {body}\n  auth: {auth}\n}}\n\n{rest}",
            at + 1
        )
    };
    for (at, (name, method, url, body, auth, rest)) in REQUESTS.iter().enumerate() {
        write(folder, &format!("{name}.bru"), &request(at, name, method, url, body, auth, rest));
    }
    // Two folders, of which the second is the first by its place.
    let of_folder = |sequence: &str, value: &str| {
        format!(
            "meta {{\n  name: f\n{sequence}}}\n\nheaders {{\n  X-Over: {value}\n}}\n\nauth {{\n  mode: basic\n}}\n\nauth:basic {{\n  username: mia\n  \
             password: pw\n}}\n\nvars:pre-request {{\n  over: {value}\n}}\n"
        )
    };
    for (name, sequence) in [("one", ""), ("two", "  seq: 1\n")] {
        write(folder, &format!("{name}/folder.bru"), &of_folder(sequence, name));
        let text = request(0, name, "get", "{{host}}/{{over}}/{{number}}", "none", "inherit", "");
        write(folder, &format!("{name}/r.bru"), &text);
        let text = request(0, "deep", "get", "{{host}}/{{over}}/deep", "none", "inherit", "");
        write(folder, &format!("{name}/deep/r.bru"), &text);
    }
    let (sent, expected) = sent(folder, &echo, &[("password", "pw"), ("client_secret", "s")]);
    // Two requests in each of two folders, and one for a token.
    check(&sent, &expected, REQUESTS.len() + 5);
}

#[test]
#[ignore = "Bruno is installed by ./test full"]
fn what_is_imported_of_opencollection_sends_what_bruno_sends() {
    let echo = Echo::responding(respond);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    write(folder, "a.txt", "file\n");
    let environment =
        format!("variables:\n  - name: host\n    value: {}\n  - name: text\n    value: a b&c\n", echo.origin);
    write(folder, "environments/local.yml", &environment);
    YAML.iter().for_each(|(name, text)| write(folder, name, text));
    let (sent, expected) = sent(folder, &echo, &[("password", "pw"), ("x_key", "k")]);
    check(&sent, &expected, 5);
}
