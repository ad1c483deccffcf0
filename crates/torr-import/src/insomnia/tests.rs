//! Exports as Insomnia writes them, and the hurl files that become of them.
//!
//! What is expected was compared with Insomnia's own code (tests/oracles). What its release on npm does not have yet (folders that
//! pass on fields and authentication, parameters of the path, scripts) is what the source of later versions does.

use super::{Options, import};
use crate::made::{checked, entry};

const SHOP_5: &str = include_str!("../../samples/shop-5.insomnia.yaml");
const SHOP_4: &str = include_str!("../../samples/shop-4.insomnia.json");

fn imported(text: &str, options: &Options<'_>) -> (String, String) {
    checked(&import(text, options).expect("it is a collection"))
}

/// Imports a collection with these lines of YAML, beside some variables.
fn lines(collection: &str) -> (String, String) {
    let environment = "environments:\n  data:\n    host: http://h\n    n: 5\n    s: a b&c\n    quoted: say \"hi\"\n    token: t0p\n    \
                       deep: {list: [1, {x: y}], name: z}\n    own: \"{{ _.own }}\"\n    made: \"{% uuid %}\"\n";
    imported(
        &format!("type: collection.insomnia.rest/5.0\ncollection:\n{collection}{environment}"),
        &Options::default(),
    )
}

/// Imports one request with these lines of YAML.
fn one(method: &str, url: &str, rest: &str) -> (String, String) {
    let rest: String = rest.lines().map(|line| format!("    {line}\n")).collect();
    lines(&format!("  - name: r\n    method: {method}\n    url: \"{url}\"\n{rest}"))
}

fn check(cases: &[(&str, &str, &str, &[&str])]) {
    for (method, url, rest, expected) in cases {
        let (file, summary) = one(method, url, rest);
        for expected in *expected {
            assert!(file.contains(expected) || summary.contains(expected), "{url} {rest}: {expected}: {file}{summary}");
        }
    }
}

#[test]
fn requests_stand_in_the_order_of_their_keys_and_folders_pass_on_what_they_have() {
    let (file, summary) = imported(SHOP_5, &Options::default());
    let names: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("# name: ")).collect();
    assert_eq!(names, ["Log in", "New order", "Cancel", "Search"]);
    let log_in = entry(&file, "Log in");
    assert!(log_in.contains("variable: host=\"http://127.0.0.1:8080\"\nvariable: api=\"{{host}}/api\"\n"), "{file}");
    assert!(log_in.contains("[Form]\nuser: {{user_name}}\npassword: {{user_password}}\n"), "{file}");
    assert!(log_in.contains("[Captures]\nlog_in_token: jsonpath \"$.token\"\n"), "{file}");
    let order = entry(&file, "New order");
    assert!(
        order.contains("X-Team: {{team}}\nContent-Type: application/json\nAuthorization: Bearer {{log_in_token}}\n"),
        "{file}"
    );
    assert!(order.contains("variable: reason=\"late\"\n"), "{file}");
    assert!(order.contains("  \"id\": \"{{newUuid}}\",\n  \"count\": {{page_size}}\n"), "{file}");
    assert!(order.contains("[Captures]\norder: jsonpath \"$.id\"\n[Asserts]\nduration < 500\n"), "{file}");
    assert!(
        entry(&file, "Cancel").contains("DELETE {{api}}/orders/{{order}}?reason={{reason toString urlEncode}}\n"),
        "{file}"
    );
    assert!(entry(&file, "Search").contains("GET {{api}}/items?q=tea%20%26%20cake&size={{page_size}}\n"), "{file}");
    assert!(!entry(&file, "Search").contains("location"), "{file}");
    assert!(entry(&file, "Search").contains("HTTP 200\n"), "{file}");
    for line in [
        "secret: variable user.password is the variable 'user_password', read from HURL_VARIABLE_user_password",
        "environments: Test; choose one with --env NAME",
        "left out: requests of WebSocket, 1 time (not HTTP requests)",
        "left out: requests of gRPC, 1 time (not HTTP requests)",
        "left out: query parameter, 1 time (disabled in the collection)",
        "left out: cookie of the jar, 1 time (a virtual user begins without cookies, and keeps those that responses set)",
    ] {
        assert!(summary.lines().any(|said| said == line), "{line}: {summary}");
    }
    assert!(!file.contains("pw-of-mia") && !summary.contains("pw-of-mia"), "{file}{summary}");
}

#[test]
fn a_list_of_resources_is_read_as_folders_are() {
    let (file, summary) = imported(SHOP_4, &Options { environment: Some("Test"), globals: None });
    let names: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("# name: ")).collect();
    assert_eq!(names, ["First", "Second", "Third"]);
    assert!(entry(&file, "First").contains("GET {{host}}/a%20b\n"), "{file}");
    assert!(entry(&file, "First").contains("variable: host=\"http://t\"\n"), "{file}");
    assert!(entry(&file, "Second").contains("no-cookie-store: true\n"), "{file}");
    assert!(entry(&file, "Second").contains("[BasicAuth]\nmia: {{pin}}\n"), "{file}");
    assert!(summary.contains("left out: requests of WebSocket, 1 time"), "{summary}");
}

#[test]
fn variables_of_folders_win_over_environments_and_these_over_globals() {
    let globals = "type: environment.insomnia.rest/5.0\nenvironments:\n  data: {a: globals, b: globals, c: globals}\n";
    let collection = "type: collection.insomnia.rest/5.0\ncollection:\n\
        \x20 - name: f\n    meta: {sortKey: 1}\n    environment: {a: folder, own: '{{ own }}+'}\n    children:\n\
        \x20     - {name: in, method: GET, url: 'h/{{ _.a }}/{{ _.b }}/{{ c }}/{{ _.own }}'}\n\
        \x20 - {name: out, meta: {sortKey: 2}, method: GET, url: 'h/{{ _.a }}/{{ _.own }}'}\n\
        environments:\n  name: Base\n  data: {a: base, b: base, own: o}\n  subEnvironments:\n    - {name: S, data: {a: sub}}\n";
    let (file, _) = imported(collection, &Options { environment: Some("S"), globals: Some(globals) });
    assert!(entry(&file, "in").starts_with("# name: in\nGET http://h/folder/{{b}}/{{c}}/o+\n"), "{file}");
    assert!(entry(&file, "out").contains("GET http://h/sub/o\n"), "{file}");
    assert!(file.contains("variable: b=\"base\"\nvariable: c=\"globals\"\n"), "{file}");
    let (file, _) = imported(collection, &Options { environment: Some("Base"), globals: None });
    assert!(entry(&file, "out").contains("GET http://h/base/o\n"), "{file}");
    let error = import(collection, &Options { environment: Some("X"), globals: None }).expect_err("there is none");
    assert_eq!(error.to_string(), "no such environment: 'X' (expected: S)");
}

/// As `smartEncodeUrl` and the parameters of Insomnia encode a URL.
#[test]
fn urls_are_encoded_as_insomnia_encodes_them() {
    let off = "settings: {encodeUrl: false, cookies: {send: true, store: true}}";
    check(&[
        ("GET", "{{ _.host }}/a b/(c)/%41?x=1 2&y&=z&&p=a,b#f", "", &["GET {{host}}/a%20b/(c)/%41?x=1%202&y&p=a,b\n"]),
        ("GET", "{{ _.host }}/{{ _.s }}?q={{ _.s }}&n={{ _.n }}", "", &["GET {{host}}/a%20b%26c?q=a%20b&c&n={{n}}\n"]),
        ("GET", "h/a", "", &["GET http://h/a\n"]),
        (
            "GET",
            "h/a?b",
            "parameters: [{name: c d, value: 'e/f,g'}, {name: '', value: x}]",
            &["GET http://h/a?b&c%20d=e%2Ff,g\n"],
        ),
        (
            "GET",
            "h/a?b=c,d%20e",
            &format!("{off}\nparameters: [{{name: c, value: d e}}]"),
            &["GET http://h/a?b=c,d%20e&c=d%20e\n"],
        ),
        (
            "GET",
            "{{ _.host }}/:id/:no",
            "pathParameters: [{name: id, value: 'a/{{ _.n }}'}, {name: no, value: ''}]",
            &["GET {{host}}/a%2F{{n}}/:no\n"],
        ),
        (
            "GET",
            "h/a",
            "authentication: {type: apikey, key: k, value: v, addTo: queryParams}",
            &["GET http://h/a?k={{k toString urlEncode}}\n"],
        ),
        ("GET", "h/a?x={{ _.made }}", "", &["GET http://h/a?x={{newUuid}}\n"]),
        (
            "GET",
            "h/../a",
            "settings: {rebuildPath: false, cookies: {send: true, store: true}}",
            &["path-as-is: true\n"],
        ),
    ]);
}

#[test]
fn values_stand_in_text_as_they_are() {
    let json = |text: &str| {
        format!(
            "body: {{mimeType: application/json, text: '{text}'}}\nheaders: [{{name: content-type, value: application/json}}]"
        )
    };
    check(&[
        (
            "POST",
            "h/",
            &json("{\"a\": \"{{ _.quoted }}\"}"),
            &["```{\"a\": \"{{quoted}}\"}```\n", "variable: quoted=\"say \\\"hi\\\"\"\n"],
        ),
        ("POST", "h/", &json("{\"a\": 1}"), &["\n{\"a\": 1}\n"]),
        ("POST", "h/", "body: {mimeType: application/json, text: '{\"a\": 1}'}", &["```{\"a\": 1}```\n"]),
        (
            "POST",
            "h/",
            &json("{{ _.deep.list[1].x }} {{ _.deep.name }} {{ _.deep.list }}"),
            &["```{{deep_list_1_x}} {{deep_name}} {{deep_list}}```\n", "variable: deep_list=\"1,[object Object]\"\n"],
        ),
        (
            "POST",
            "h/",
            "body: {mimeType: a/b, text: '{{ _.n }}'}\nsettings: {renderRequestBody: false, cookies: {send: true, store: true}}",
            &["\\u{7b}\\u{7b} _.n }}```\n"],
        ),
        ("GET", "h/", "body: {text: x}", &["left out: content, 1 time (without a type, Insomnia sends none with GET)"]),
        ("GET", "h/", "body: {mimeType: text/plain, text: x}", &["```x```\n"]),
        (
            "POST",
            "h/",
            "body: {mimeType: application/graphql, text: '{\"query\": \"{ a }\",  \"variables\": {\"n\": 1}}'}",
            &["```{\"query\":\"{ a }\",\"variables\":{\"n\":1}}```\n"],
        ),
        (
            "POST",
            "h/",
            "body: {mimeType: application/octet-stream, fileName: /home/mia/a.bin}",
            &["\nfile,a.bin;\n", "put the file next to the hurl file"],
        ),
        ("POST", "h/", "body: {mimeType: text/plain, text: \"{% file 'b.txt' %}\"}", &["\nfile,b.txt;\n"]),
        (
            "POST",
            "h/",
            "body: {mimeType: application/json, text: '{\"token\": \"abc\"}'}",
            &["```{\"token\": \"{{token}}\"}```", "secret: member token"],
        ),
    ]);
}

#[test]
fn forms_are_sent_as_insomnia_writes_them() {
    let form = "headers: [{name: Content-Type, value: application/x-www-form-urlencoded}]\nbody: {mimeType: application/x-www-form-urlencoded, params: ";
    check(&[
        (
            "POST",
            "h/",
            &format!("{form}[{{name: a, value: '1'}}, {{name: b, value: x, disabled: true}}]}}"),
            &["[Form]\na: 1\n", "left out: parameter of a form, 1 time"],
        ),
        (
            "POST",
            "h/",
            &format!("{form}[{{name: a b, value: '{{{{ _.s }}}}~'}}]}}"),
            &["```a+b=a+b%26c%7E```\n", "Content-Type: application/x-www-form-urlencoded\n"],
        ),
        (
            "POST",
            "h/",
            "body: {mimeType: application/x-www-form-urlencoded, params: [{name: a, value: '1'}]}",
            &["```a=1```\n"],
        ),
        (
            "POST",
            "h/",
            "body: {mimeType: multipart/form-data, params: [{name: a, value: '{{ _.n }}'}, {name: f, type: file, fileName: b.png}, {name: '', value: ''}]}",
            &["[Multipart]\na: {{n}}\nf: file,b.png; image/png\n"],
        ),
        (
            "POST",
            "h/",
            "body: {mimeType: multipart/form-data, params: [{name: a, value: '{}', multiline: application/json}]}",
            &[
                "Content-Type: multipart/form-data; boundary=torr-part\n",
                "name=\"a\"\\r\nContent-Type: application/json\\r\n\\r\n\\u{7b}}\\r\n",
            ],
        ),
    ]);
}

/// As `getAuthHeader` and `parseHeaderStrings` add credentials.
#[test]
fn credentials_are_variables() {
    check(&[
        (
            "GET",
            "h/",
            "authentication: {type: basic, username: mia, password: pw}",
            &["[BasicAuth]\nmia: {{password}}\n"],
        ),
        ("GET", "h/", "authentication: {type: basic, username: '', password: pw}", &["user: :{{password}}\n"]),
        (
            "GET",
            "h/",
            "authentication: {type: bearer, token: '{{ _.token }}', prefix: Token}",
            &["Authorization: Token {{token}}\n"],
        ),
        (
            "GET",
            "h/",
            "authentication: {type: digest, username: mia, password: pw}",
            &["digest: true\nuser: mia:{{password}}\n"],
        ),
        ("GET", "h/", "authentication: {type: netrc}", &["netrc: true\n"]),
        ("GET", "h/", "authentication: {type: bearer, token: x, prefix: NO_PREFIX}", &["Authorization: {{token}}\n"]),
        ("GET", "h/", "authentication: {type: apikey, key: X-Key, value: k, addTo: header}", &["X-Key: {{x_key}}\n"]),
        ("GET", "h/", "authentication: {type: apikey, key: sid, value: k, addTo: cookie}", &["Cookie: sid={{sid}}\n"]),
        (
            "GET",
            "h/",
            "authentication: {type: iam, accessKeyId: AK, secretAccessKey: s, region: eu-west-1, service: execute-api, sessionToken: st}",
            &[
                "aws-sigv4: aws:amz:eu-west-1:execute-api\nuser: AK:{{secret_key}}\n",
                "X-Amz-Security-Token: {{session_token}}\n",
            ],
        ),
        (
            "GET",
            "h/",
            "authentication: {type: ntlm, username: a, password: b}",
            &[
                "left out: authentication, 1 time (this authentication scheme is not supported)",
                "# left out: authentication ntlm",
            ],
        ),
        (
            "GET",
            "h/",
            "headers: [{name: Authorization, value: Own}]\nauthentication: {type: basic, username: a, password: b}",
            &["Authorization: {{authorization}}\n", "(the field Authorization is sent)"],
        ),
        ("GET", "h/", "authentication: {type: basic, username: a, password: b, disabled: true}", &["GET http://h/\n"]),
        (
            "GET",
            "h/",
            "authentication: {type: oauth2, grantType: authorization_code}",
            &["Authorization: Bearer {{access_token}}\n", "the token is not fetched"],
        ),
    ]);
}

#[test]
fn one_token_is_for_all_requests_of_a_folder() {
    let (file, summary) = lines(
        "  - name: f\n    authentication: {type: oauth2, grantType: client_credentials, accessTokenUrl: '{{ _.host }}/token', clientId: me, \
         clientSecret: s, scope: all}\n    children:\n      - {name: a, method: GET, url: h/a}\n      - {name: b, method: GET, url: h/b}\n",
    );
    assert!(summary.starts_with("3 requests\n"), "{summary}");
    let token = entry(&file, "OAuth 2 token");
    assert!(
        token.contains("POST {{host}}/token\n") && token.contains("[BasicAuth]\nme: {{client_secret}}\n"),
        "{file}"
    );
    assert!(token.contains("[Form]\ngrant_type: client_credentials\nscope: all\n"), "{file}");
    assert!(token.contains("oauth2_access_token: jsonpath \"$.access_token\"\n"), "{file}");
    assert!(entry(&file, "b").contains("Authorization: Bearer {{oauth2_access_token}}\n"), "{file}");
}

#[test]
fn scripts_before_a_request_give_values_to_the_entries_that_it_needs() {
    let (file, _) = lines(
        "  - name: a\n    method: GET\n    url: h\n    scripts: {preRequest: \"insomnia.environment.set('client', 'me');\"}\n    authentication: {type: \
         oauth2, grantType: client_credentials, accessTokenUrl: h/t, clientId: '{{ _.client }}', clientSecret: s}\n  - {name: b, method: GET, url: \
         'http://[', scripts: {preRequest: \"insomnia.environment.set('x', 1);\"}}\n  - {name: c, method: GET, url: 'h/{{ _.x }}'}\n",
    );
    assert!(entry(&file, "OAuth 2 token").contains("variable: client=\"me\"\n"), "{file}");
    assert!(!entry(&file, "a").contains("variable: client"), "{file}");
    assert!(entry(&file, "c").contains("variable: x=1\n"), "{file}");
}

/// As `getOrInheritHeaders` joins fields.
#[test]
fn fields_of_one_name_are_joined() {
    let (file, _) = lines(
        "  - name: f\n    headers: [{name: X-A, value: '1'}, {name: Content-Type, value: a/b}]\n    children:\n      - {name: a, method: POST, \
         url: h, headers: [{name: x-a, value: '2'}, {name: content-type, value: c/d}, {name: Empty, value: ''}]}\n",
    );
    assert!(entry(&file, "a").contains("x-a: 1, 2\ncontent-type: c/d\nEmpty:\n"), "{file}");
}

#[test]
fn tags_have_counterparts_or_become_variables() {
    let body = |text: &str| format!("body: {{mimeType: text/plain, text: \"{text}\"}}");
    check(&[
        (
            "POST",
            "h/",
            &body("{% now 'unix', '' %} {% now %} {% timestamp 'millis' %}"),
            &[
                "```{{newDate dateFormat \"%s\"}} {{newDate dateFormat \"%Y-%m-%dT%H:%M:%S%.3fZ\"}} {{newDate dateFormat \"%s%3f\"}}```\n",
            ],
        ),
        (
            "POST",
            "h/",
            &body("{% now 'custom', 'yyyy-MM-dd' %}"),
            &["{{newDate dateFormat \"%Y-%m-%d\"}}", "(the time is sent in UTC)"],
        ),
        (
            "POST",
            "h/",
            &body("{% base64 'encode', 'normal', 'a:b' %} {% base64 'encode', 'normal', _.s %}"),
            &["```YTpi YSBiJmM=```\n"],
        ),
        (
            "POST",
            "h/",
            &body("{% base64 'encode', 'normal', _.token %}"),
            &["```{{token toString utf8Encode base64Encode}}```\n"],
        ),
        (
            "POST",
            "h/",
            &body("{% faker 'guid' %} {% faker 'randomCity' %}"),
            &["```{{newUuid}} Springfield```\n", "left out: dynamic variable, 1 time"],
        ),
        (
            "POST",
            "h/",
            &body("{% prompt 'How many', '', '500', '', false, true %}"),
            &["```{{how_many}}```\n", "variable: how_many=\"500\"\n"],
        ),
        ("POST", "h/", &body("{% prompt 'Pin', '', '', '', true %}"), &["```{{pin}}```\n", "secret: variable pin"]),
        (
            "POST",
            "h/",
            &body("{% os 'arch', '' %} {{ _.n | upper }}"),
            &["```{{os}} {{n_upper}}```\n", "give its value as the variable os", "variable 'os' has no value"],
        ),
        (
            "POST",
            "h/",
            &body("{% request 'name', '', 0 %} {% file 'a' %}"),
            &["```r {{file}}```\n", "only a whole content can be a file"],
        ),
        ("POST", "h/", &body("{% response 'body', 'req_x', 'b64::JC5h::46b' %}"), &["comes later, or is no entry"]),
        ("POST", "h/", &body("{{ _.own }}|{{ vault.key }}|{# no #}"), &["its value has no end", "{{key}}|```\n"]),
        ("POST", "h/", &body("{% external 'aws', 'x' %}"), &["secret: variable external_secret"]),
    ]);
}

#[test]
fn responses_are_captured_once() {
    let (file, summary) = lines(
        "  - {name: Log in, meta: {id: req_1, sortKey: 1}, method: GET, url: h/1}\n  - name: f\n    meta: {sortKey: 2}\n    environment: {auth: \
         \"{% response 'header', 'req_1', 'b64::WC1Ub2tlbg==::46b', 'never', 60 %}\"}\n    children:\n      - {name: a, method: GET, url: 'h/{{ _.auth \
         }}', headers: [{name: A, value: '{{ _.auth }}'}, {name: B, value: \"{% response 'raw', 'req_1' %}\"}]}\n",
    );
    let log_in = entry(&file, "Log in");
    assert!(log_in.contains("[Captures]\nauth_of_log_in: header \"X-Token\"\nlog_in_raw: body\n"), "{file}");
    assert!(
        entry(&file, "a").contains("GET http://h/{{auth_of_log_in}}\nA: {{auth_of_log_in}}\nB: {{log_in_raw}}\n"),
        "{file}"
    );
    assert_eq!(summary.matches("captured: ").count(), 2, "{summary}");
}

/// A tag sends the request that it names first, if it says so and there is no response yet.
#[test]
fn a_request_that_comes_later_is_sent_before_too() {
    let tag = |trigger: &str| format!("{{% response 'body', 'req_2', '$.token', '{trigger}', 60 %}}");
    let collection = |trigger: &str| {
        format!(
            "  - {{name: a, meta: {{id: req_1}}, method: GET, url: h/1, headers: [{{name: A, value: \"{}\"}}]}}\n  - {{name: b, meta: {{id: req_2, \
             sortKey: 1}}, method: GET, url: h/2}}\n",
            tag(trigger)
        )
    };
    let (file, _) = lines(&collection("no-history"));
    let names: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("# name: ")).collect();
    assert_eq!(names, ["b", "a", "b"]);
    assert_eq!(file.matches("[Captures]\nb_token: jsonpath \"$.token\"\n").count(), 2, "{file}");
    assert!(entry(&file, "a").contains("A: {{b_token}}\n"), "{file}");
    let (file, summary) = lines(&collection("never"));
    assert!(summary.starts_with("2 requests\n") && file.contains("comes later, or is no entry"), "{file}{summary}");
}

#[test]
fn certain_statements_of_scripts_are_carried_over() {
    let after = |text: &str| {
        format!(
            "scripts:\n  afterResponse: |-\n{}",
            text.lines().map(|line| format!("    {line}\n")).collect::<String>()
        )
    };
    check(&[
        (
            "GET",
            "h/",
            &after("insomnia.test('x', async () => {\n  insomnia.expect(insomnia.response.code).to.equal(201);\n});"),
            &["HTTP 201\n"],
        ),
        (
            "GET",
            "h/",
            &after("insomnia.response.to.have.status(404);\ninsomnia.response.to.have.jsonBody('id');"),
            &["HTTP 404\n[Asserts]\njsonpath \"$.id\" exists\n"],
        ),
        (
            "GET",
            "h/",
            &after("insomnia.baseEnvironment.set('id', insomnia.response.json().id);"),
            &["[Captures]\nid: jsonpath \"$.id\"\n"],
        ),
        (
            "GET",
            "h/",
            &after(
                "insomnia.response.to.be.json;\ninsomnia.test.skip('x', () => {\n  insomnia.response.to.have.status(1);\n});",
            ),
            &["jsonpath \"$\" isObject\n", "# | insomnia.test.skip("],
        ),
        ("GET", "h/", &after("insomnia.execution.setNextRequest('x');"), &["setNextRequest, 1 time"]),
        (
            "GET",
            "h/",
            "scripts: {preRequest: \"insomnia.variables.set('token', 'abc');\"}\nheaders: [{name: T, value: '{{ _.token }}'}]",
            &["variable: token=\"{{token_2}}\"\n", "secret: script is the variable 'token_2'", "T: {{token}}\n"],
        ),
        (
            "GET",
            "h/",
            "scripts: {preRequest: \"const r = await insomnia.sendRequest('x');\"}",
            &["part of a pre-request script, 1 time"],
        ),
    ]);
}

#[test]
fn variables_of_scripts_win_where_insomnia_lets_them() {
    let set = "scripts: {preRequest: \"insomnia.environment.set('n', 1); \"}";
    let (file, _) = lines(&format!(
        "  - name: f\n    environment: {{n: 7}}\n    children:\n      - {{name: a, method: GET, url: 'h/{{{{ _.n }}}}', {set}}}\n  - {{name: b, method: GET, url: 'h/{{{{ _.n }}}}', {set}}}\n"
    ));
    assert!(entry(&file, "a").contains("GET http://h/7\n"), "{file}");
    assert!(entry(&file, "b").contains("GET http://h/{{n}}\n[Options]\nvariable: n=1\n"), "{file}");
}

#[test]
fn what_is_no_collection_is_refused_in_one_line() {
    for (text, expected) in [
        ("", "not an Insomnia export: "),
        ("a: [", "not a valid Insomnia export: "),
        (
            "type: environment.insomnia.rest/5.0",
            "expected a collection, found a global environment: pass it with --globals",
        ),
        ("type: mock.insomnia.rest/5.0", "'mock.insomnia.rest/5.0' has no collection"),
        ("{\"_type\": \"export\", \"__export_format\": 2}", "export format 2 is not supported"),
        ("{\"_type\": \"export\", \"__export_format\": 4}", "not an Insomnia export: 'resources' is missing"),
        ("type: collection.insomnia.rest/5.0", "the collection has no requests"),
        (
            "type: spec.insomnia.rest/5.0\ncollection: [{name: w, url: 'ws://a'}]",
            "the collection has no requests (requests of an unknown type w: not HTTP requests)",
        ),
    ] {
        let error = import(text, &Options::default()).expect_err("it must be refused").to_string();
        assert!(error.starts_with(expected) && !error.contains('\n'), "{text}: {error}");
    }
    let error = import(SHOP_4, &Options { environment: None, globals: Some("a: 1") }).expect_err("no globals");
    assert!(error.to_string().starts_with("the file of the globals is no environment"), "{error}");
}

/// Names that lead to each other, resources that are part of themselves, and values that would grow without bound.
#[test]
fn what_has_no_end_is_bounded() {
    let mut growing = "type: collection.insomnia.rest/5.0\ncollection: [{name: a, method: GET, url: 'h/{{ a }}'}, {name: b, method: POST, url: h, \
                       body: {mimeType: a, text: '{{ a }}'}}]\nenvironments:\n  data:\n    a: '{{ b }}{{ b }}'\n"
        .to_owned();
    for (at, next) in ('b'..='y').zip('c'..='z') {
        growing.push_str(&format!("    {at}: '{}'\n", format!("{{{{ {next} }}}}").repeat(20)));
    }
    growing.push_str(&format!("    z: '{}{{% uuid %}}'\n", "x".repeat(100_000)));
    let (file, summary) = imported(&growing, &Options::default());
    assert!(summary.contains("names in one text") || summary.contains("no end"), "{}", &summary[..400]);
    assert!(file.len() < 300 << 20);
    let mut resources = vec![
        r#"{"_id":"w","_type":"workspace"}"#.to_owned(),
        r#"{"_id":"r","parentId":"w","_type":"request","name":"r","url":"h","method":"GET"}"#.to_owned(),
        r#"{"_id":"x","parentId":"x","_type":"request_group"}"#.to_owned(),
        r#"{"_id":"l","parentId":"x","_type":"request","name":"lost","url":"h","method":"GET"}"#.to_owned(),
    ];
    for at in 0..60 {
        let parent = if at == 0 { "w".to_owned() } else { format!("f{}", at - 1) };
        let folder = format!(r#"{{"_id":"f{at}","parentId":"{parent}","_type":"request_group"}}"#);
        resources.extend([folder.clone(), folder]);
    }
    let text = format!(r#"{{"_type":"export","__export_format":4,"resources":[{}]}}"#, resources.join(","));
    let (_, summary) = imported(&text, &Options::default());
    assert!(summary.contains("left out: request, 1 time (its folder is part of itself)"), "{summary}");
}
