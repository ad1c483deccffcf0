//! Collections as Bruno writes them, and the hurl files that become of them.

use super::{Options, import};
use crate::made::{checked, entry};
use std::collections::BTreeMap;

macro_rules! samples {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../samples/", $folder, "/", $name)))),+]
    };
}

const SHOP: &[(&str, &str)] = samples!("bruno":
    "bruno.json", "collection.bru", "environments/local.bru", "account/folder.bru", "account/Log in.bru",
    "orders/folder.bru", "orders/New order.bru", "orders/Cancel.bru", "Search.bru");
const NOTES: &[(&str, &str)] = samples!("bruno-yaml":
    "opencollection.yml", "environments/local.yml", "New note.yml", "Find notes.yml", "Upload.yml");

fn imported(files: &[(&str, &str)], environment: Option<&str>, only: Option<&str>) -> (String, String) {
    let files: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let options = Options { environment: environment.map(str::to_owned), only: only.map(str::to_owned) };
    checked(&import(&files, &options).expect("it is a collection"))
}

/// Imports one request beside an empty collection and an environment with a host.
fn one(request: &str, more: &[(&str, &str)]) -> (String, String) {
    let files = [
        &[("bruno.json", "{}"), ("environments/e.bru", "vars {\n  host: http://h\n  n: 5\n  s: a b&c\n}\n")][..],
        &[("r.bru", request)],
        more,
    ];
    imported(&files.concat(), Some("e"), None)
}

fn request(method: &str, url: &str, body: &str, rest: &str) -> String {
    format!("meta {{\n  name: r\n}}\n\n{method} {{\n  url: {url}\n  body: {body}\n  auth: none\n}}\n\n{rest}")
}

#[test]
fn folders_run_before_requests_and_pass_on_what_they_have() {
    let (file, summary) = imported(SHOP, Some("local"), None);
    let names: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("# name: ")).collect();
    assert_eq!(names, ["Log in", "New order", "Cancel", "Search"]);
    assert!(entry(&file, "Log in").contains("variable: api=\"{{host}}/api\"\n"), "{file}");
    assert!(!entry(&file, "Log in").contains("Authorization"), "{file}");
    assert!(entry(&file, "Log in").contains("{\n  \"user\": \"{{user}}\",\n"), "comments are removed: {file}");
    let order = "POST {{api}}/orders\nX-Client: shop\nX-Team: orders\nAuthorization: Bearer {{token}}\n";
    assert!(entry(&file, "New order").contains(order), "{file}");
    assert!(entry(&file, "New order").contains("[Form]\nsku: tea&cake\ncount: 2\n"), "{file}");
    assert!(entry(&file, "Cancel").contains("DELETE {{api}}/orders/{{order}}?reason=too late\n"), "{file}");
    assert!(entry(&file, "Search").contains("GET {{api}}/items?q=tea%20cake&size={{page_size}}\n"), "{file}");
    assert!(entry(&file, "Search").contains("HTTP 200\n[Asserts]\njsonpath \"$.items\" count > 0\n"), "{file}");
    for line in [
        "secret: variable password is the variable 'password', read from HURL_VARIABLE_password",
        "captured: 'order' from the response of request 2",
        "left out: query parameter, 1 time (disabled in the collection)",
    ] {
        assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
    }
}

#[test]
fn one_folder_or_one_request_is_imported_alone() {
    let (file, summary) = imported(SHOP, Some("local"), Some("orders"));
    assert!(summary.starts_with("2 requests\n") && file.contains("X-Team: orders\n"), "{file}{summary}");
    let (file, summary) = imported(SHOP, None, Some("orders/Cancel.bru"));
    assert!(summary.starts_with("1 request\n") && file.contains("X-Client: shop\n"), "{file}{summary}");
    assert!(summary.contains("\nenvironments: local; choose one with --env NAME\n"), "{summary}");
}

#[test]
fn opencollection_is_read_as_bru_is() {
    let (file, summary) = imported(NOTES, None, None);
    let options = "[Options]\nvariable: host=\"http://127.0.0.1:8080\"\nvariable: limit=\"5\"\nmax-time: 5s\n";
    assert!(entry(&file, "New note").contains(options), "{file}");
    assert!(entry(&file, "New note").contains("\"id\": \"{{newUuid}}\""), "{file}");
    assert!(entry(&file, "New note").contains("HTTP 201\n[Captures]\nnote: jsonpath \"$.id\"\n"), "{file}");
    assert!(entry(&file, "Find notes").contains("\"variables\":{\"limit\":{{limit}}}}"), "{file}");
    assert!(!entry(&file, "Find notes").contains("location"), "{file}");
    assert!(entry(&file, "Upload").contains("PUT {{host}}/notes/{{note}}/picture\n"), "{file}");
    assert!(entry(&file, "Upload").contains("picture: file,opencollection.yml; text/plain"), "{file}");
    assert!(summary.contains("secret: variable key is the variable 'key'"), "{summary}");
}

#[test]
fn a_whole_collection_may_be_one_file() {
    let bundle = "opencollection: 1.0.0\nrequest:\n  headers:\n    - {name: X, value: '1'}\nconfig:\n  environments:\n    - name: local\n      variables: [{name: host, value: http://a}]\nitems:\n  - info: {name: b, type: http, seq: 2}\n    http: {method: get, url: '{{host}}/b'}\n  - info: {name: F, type: folder}\n    items:\n      - info: {name: a, type: http}\n        http: {method: get, url: '{{host}}/a'}\nbundled: true\n";
    let (file, _) = imported(&[("opencollection.yml", bundle)], Some("local"), None);
    assert!(file.starts_with("# name: a\nGET {{host}}/a\nX: 1\n[Options]\nvariable: host=\"http://a\"\n"), "{file}");
    assert!(entry(&file, "b").contains("GET {{host}}/b\n"), "{file}");
}

#[test]
fn urls_are_encoded_as_bruno_encodes_them() {
    let encoded = "settings {\n  encodeUrl: true\n}\n";
    for (url, rest, expected) in [
        ("{{host}}/a?x={{n}}#f", "", "{{host}}/a?x={{n}}"),
        ("{{host}}/a b?x=1%20 2&=z&y#f", encoded, "{{host}}/a%20b?x=1%2520%202&y%23f"),
        ("{{host}}/{{s}}?q={{s}}", encoded, "{{host}}/a%20b%26c?q=a%20b&c"),
        ("h/a", "", "http://h/a"),
        ("http://{{a}}:{{p}}/", "", "http://{{a}}:{{p}}/"),
        ("{{a}}://{{b}}:{{p}}/", encoded, "{{a}}://{{b}}:{{p}}/"),
        ("{{host}}/:a//:b/", "params:path {\n  a: {{n}}\n}\n", "{{host}}/{{n}}/:b/"),
        ("http://u:p@h/Set(':k')?q#f", "params:path {\n  k: 7\n}\n", "http://h/Set('7')?q"),
    ] {
        let (file, _) = one(&request("get", url, "none", rest), &[]);
        assert!(file.lines().any(|line| line == format!("GET {expected}")), "{url}: {expected}: {file}");
    }
}

#[test]
fn content_has_the_bytes_of_bruno() {
    let json = "body:json {\n  {\"a\": {{n}}, \"b\": \"{{s}}\"} // c\n}\n";
    for (body, rest, expected) in [
        (
            "json",
            json,
            "Content-Type: application/json\n[Options]\nvariable: host=\"http://h\"\nvariable: n=\"5\"\nvariable: s=\"a b&c\"\nlocation: true\n```{\"a\": {{n}}, \"b\": \"{{s}}\"}```",
        ),
        ("json", "body:json {\n  {a: 1\n}\n", "```\"{a: 1\"```"),
        ("json", "", "Content-Type: application/x-www-form-urlencoded\n"),
        ("text", "body:text {\n    {{n}}\n}\n", "Content-Type: text/plain\n"),
        (
            "formUrlEncoded",
            "body:form-urlencoded {\n  a: b c\n  v: {{n}}\n}\n",
            "```a=b+c&v={{n toString urlEncode}}```",
        ),
        ("formUrlEncoded", "body:form-urlencoded {\n  a: b&c\n  v: {{n}}\n}\n", "[Form]\na: b&c\nv: {{n}}\n"),
        ("graphql", "body:graphql {\n  { a }\n}\n", "```graphql\n{ a }\nvariables {}\n```"),
        ("file", "body:file {\n  file: @file(a.bin) @contentType(a/b)\n}\n", "Content-Type: a/b\n"),
        ("multipartForm", "body:multipart-form {\n  a: @file(/x/b.png)\n}\n", "a: file,b.png;"),
    ] {
        let (file, _) = one(&request("post", "{{host}}", body, rest), &[]);
        assert!(file.contains(expected), "{body}: {expected}: {file}");
    }
    let form = "headers {\n  Content-Type: application/x-www-form-urlencoded\n}\nbody:text {\n  a={{n}}\n}\n";
    let (file, _) = one(&request("post", "{{host}}", "text", form), &[]);
    assert!(
        file.contains("# left out: variables in content (Bruno sends them as they are in text of a form)"),
        "{file}"
    );
}

#[test]
fn variables_of_folders_stand_as_their_values_where_they_differ() {
    let request = |name: &str| {
        format!("meta {{\n  name: {name}\n}}\nget {{\n  url: {{{{host}}}}/{{{{v}}}}/{{{{w}}}}/{{{{$randomInt}}}}\n}}\n")
    };
    let folder = |value: &str| format!("vars:pre-request {{\n  v: {value}\n}}\n");
    let (a, b) = (request("a"), request("b"));
    let (of_a, of_b) = (folder("1"), folder("2"));
    let files = [
        ("bruno.json", "{}"),
        ("collection.bru", "vars:pre-request {\n  host: http://h\n  w: w{{v}}\n}\n"),
        ("a/folder.bru", &of_a),
        ("a/a.bru", &a),
        ("b/folder.bru", &of_b),
        ("b/b.bru", &b),
    ];
    let (file, summary) = imported(&files, None, None);
    assert!(file.contains("GET {{host}}/1/w1/42\n") && file.contains("GET {{host}}/2/w2/42\n"), "{file}");
    assert!(
        summary.contains("left out: dynamic variable, 2 times (no counterpart: replaced by a constant)"),
        "{summary}"
    );
}

#[test]
fn values_of_the_environment_of_the_process_stay_there_or_become_secrets() {
    let (file, summary) = one(
        &request("get", "{{host}}/{{process.env.A}}/{{process.env.B}}", "none", ""),
        &[(".env", "# c\nA=\"s3cret\" # x\n")],
    );
    assert!(file.contains("GET {{host}}/{{process_env_A}}/{{getEnv \"B\"}}\n"), "{file}");
    assert!(summary.contains("read from HURL_VARIABLE_process_env_A") && !file.contains("s3cret"), "{file}{summary}");
}

#[test]
fn credentials_become_variables() {
    let auth = |mode: &str, rest: &str| {
        format!("meta {{\n  name: r\n}}\nget {{\n  url: http://h/\n  auth: {mode}\n}}\n{rest}")
    };
    for (mode, rest, expected) in [
        ("basic", "auth:basic {\n  username: u\n  password: s3cret\n}\n", "[BasicAuth]\nu: {{password}}\n"),
        ("bearer", "auth:bearer {\n  token: s3cret\n}\n", "Authorization: Bearer {{token}}\n"),
        ("apikey", "auth:apikey {\n  key: k\n  value: s3cret\n  placement: header\n}\n", "k: {{k}}\n"),
        (
            "apikey",
            "auth:apikey {\n  key: api_key\n  value: s3cret\n  placement: queryparams\n}\n",
            "GET http://h/?api_key={{api_key}}\n",
        ),
        (
            "awsv4",
            "auth:awsv4 {\n  accessKeyId: A\n  secretAccessKey: s3cret\n  service: s3\n  region: r\n}\n",
            "aws-sigv4: aws:amz:r:s3\nuser: A:{{secret_key}}\n",
        ),
        (
            "oauth2",
            "auth:oauth2 {\n  grant_type: authorization_code\n  client_secret: s3cret\n  token_header_prefix: Bearer\n}\n",
            "Authorization: Bearer {{access_token}}\n",
        ),
        ("digest", "auth:digest {\n  username: u\n  password: s3cret\n}\n", "digest: true\nuser: u:{{password}}\n"),
    ] {
        let (file, summary) = one(&auth(mode, rest), &[]);
        assert!(file.contains(expected), "{mode}: {expected}: {file}");
        assert!(!file.contains("s3cret") && !summary.contains("s3cret"), "{mode}: {file}{summary}");
    }
}

#[test]
fn asserts_and_certain_statements_are_carried_over() {
    let rest = "assert {\n  res.status: 201\n  res.headers['x-r']: startsWith a\n  res.body: contains tea\n  res.body.n: gt {{n}}\n  res.body.a: between 1, 9\n  res.body.b: notMatches /^a\\/b$/\n  res.body.c: isTruthy\n  res.body[0].d: eq \"5\"\n  ~res.body: isJson\n  req.url: eq x\n}\n\nscript:post-response {\n  bru.setEnvVar(\"id\", res.getBody().id, { persist: true });\n  if (res.status === 500) {\n    bru.setVar(\"x\", res.body.x);\n  }\n}\n\ntests {\n  test(\"t\", () => {\n    expect(res.body).to.contain(\"tea\");\n    expect(res.getBody().list).to.have.lengthOf(2);\n  });\n}\n";
    let (file, summary) = one(&request("get", "{{host}}", "none", rest), &[]);
    for line in [
        "HTTP 201",
        "id: jsonpath \"$.id\"",
        "header \"x-r\" startsWith \"a\"",
        "body contains \"tea\"",
        "jsonpath \"$.n\" > 5",
        "jsonpath \"$.a\" >= 1",
        "jsonpath \"$.b\" not matches /^a\\/b$/",
        "jsonpath \"$.c\" == true",
        "jsonpath \"$[0].d\" == \"5\"",
        "jsonpath \"$.list\" count == 2",
        "# left out: assertion req.url: eq x (no exact counterpart)",
        "# left out: part of a test script (no exact counterpart: its lines are kept as a comment)",
        "# |   if (res.status === 500) {",
    ] {
        assert!(
            file.lines().any(|said| said.trim_end() == line || said == line.replace("|   ", "| ")),
            "{line}: {file}"
        );
    }
    assert!(summary.contains("left out: assertion, 1 time (disabled in the collection)"), "{summary}");
}

#[test]
fn a_token_is_fetched_once_before_the_first_request_that_needs_it() {
    let auth = "auth {\n  mode: oauth2\n}\nauth:oauth2 {\n  grant_type: client_credentials\n  access_token_url: http://t/token\n  client_id: me\n  client_secret: s3cret\n  scope: a b\n  token_header_prefix: Bearer\n}\n";
    let request = |name: &str| format!("meta {{\n  name: {name}\n}}\nget {{\n  url: http://h/\n  auth: inherit\n}}\n");
    let (a, b) = (request("a"), request("b"));
    let files = [("bruno.json", "{}"), ("collection.bru", auth), ("a.bru", &a), ("b.bru", &b)];
    let (file, summary) = imported(&files, None, None);
    assert!(summary.starts_with("3 requests\n"), "{summary}");
    let form = "[Form]\ngrant_type: client_credentials\nscope: a b\nclient_id: me\nclient_secret: {{client_secret}}\n";
    let token = entry(&file, "OAuth 2 token");
    assert!(file.starts_with("# name: OAuth 2 token\nPOST http://t/token\nAccept: application/json\n"), "{file}");
    assert!(
        token.contains(form) && token.contains("oauth2_credentials_access_token: jsonpath \"$.access_token\"\n"),
        "{token}"
    );
    for name in ["a", "b"] {
        let field = "Authorization: Bearer {{oauth2_credentials_access_token}}\n";
        assert!(entry(&file, name).contains(field), "{file}");
    }
    assert!(!file.contains("s3cret"), "{file}");
}

#[test]
fn names_of_values_and_pauses_in_scripts_are_carried_over() {
    let rest = "script:pre-request {\n  await bru.sleep(250);\n  bru.setVar(\"a\", 5);\n}\n\nscript:post-response {\n  const data = res.getBody();\n  const first = data.items[0];\n  bru.setVar(\"id\", first.id);\n  let other = Date.now();\n  bru.setVar(\"t\", other);\n}\n";
    let (file, _) = one(&request("get", "{{host}}/{{a}}", "none", rest), &[]);
    for line in ["delay: 250ms", "variable: a=5", "id: jsonpath \"$.items[0].id\"", "# |   let other = Date.now();"] {
        assert!(file.lines().any(|said| said == line || said == line.replace("|   ", "| ")), "{line}: {file}");
    }
}

#[test]
fn captures_of_a_successful_response_are_made_in_any_case() {
    let rest = "script:post-response {\n  if (res.getStatus() === 200 && res.body.token) {\n    const { token, user } = res.body;\n    bru.setEnvVar(\"token\", token);\n    bru.setVar(\"name\", user.name);\n    console.log(\"in\");\n  } else {\n    bru.setVar(\"e\", res.body.e);\n  }\n  if (res.status === 401) {\n    bru.setVar(\"f\", res.body.f);\n  }\n}\n";
    let (file, summary) = one(&request("get", "{{host}}", "none", rest), &[]);
    for line in [
        "# left out: condition of a script if (res.getStatus() === 200 && res.body.token) { (its values are captured in any case: a session ends where the response has none)",
        "# | } else {",
        "# | if (res.status === 401) {",
    ] {
        assert!(file.lines().any(|said| said == line), "{line}: {file}");
    }
    assert!(summary.contains("left out: condition of a script, 1 time"), "{summary}");
    assert!(file.contains("token: jsonpath \"$.token\"\nname: jsonpath \"$.user.name\"\n"), "{file}");
    assert!(!file.contains("\ne: jsonpath") && !file.contains("\nf: jsonpath"), "{file}");
}

#[test]
fn variables_that_grow_without_bound_end() {
    let mut variables = "vars:pre-request {\n  v0: \n".to_owned();
    for at in 1..16 {
        variables.push_str(&format!("  v{at}: {}\n", format!("{{{{v{}}}}}", at - 1).repeat(20)));
    }
    variables.push_str("}\n");
    let folder = variables.replace("v0: ", "v0: x");
    let get = "meta {\n  name: r\n}\nget {\n  url: http://h/{{v15}}\n}\n";
    let files = [
        ("bruno.json", "{}"),
        ("collection.bru", variables.as_str()),
        ("f/folder.bru", &folder),
        ("f/r.bru", get),
        ("r.bru", get),
    ];
    let (file, _) = imported(&files, None, None);
    assert!(file.len() < 4_000_000, "{}", file.len());
}

#[test]
fn what_is_no_collection_is_refused_in_one_line() {
    let of = |files: &[(&str, &str)], environment: Option<&str>| {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let options = Options { environment: environment.map(str::to_owned), only: None };
        import(&files, &options).expect_err("it must be refused").to_string()
    };
    let broken = ("a.bru", "get {\n  url http://a\n}\n");
    for (error, reason) in [
        (of(&[], None), "not a Bruno collection: expected bruno.json or opencollection.yml"),
        (of(&[("bruno.json", "{")], None), "not a valid bruno.json: "),
        (
            of(&[("bruno.json", "{}"), broken], None),
            "the collection has no requests (file a.bru: expected 'name: value' in line 2",
        ),
        (of(&[("bruno.json", "{}")], Some("x")), "no such environment: 'x' (expected: the collection has none)"),
        (of(&[("opencollection.yml", "a: [")], None), "not a valid opencollection.yml: "),
    ] {
        assert!(error.starts_with(reason) && !error.contains('\n'), "{error}");
    }
}
