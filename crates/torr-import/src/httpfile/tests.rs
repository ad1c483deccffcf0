//! Files of requests, and the hurl files that become of them.

use super::{Environment, Options, import};
use crate::made::checked;

fn read(name: &str) -> Result<Vec<u8>, String> {
    match name {
        "./part.txt" => Ok(b"{{who}} of a file".to_vec()),
        "./part.bin" => Ok(b"\x89{{who}}\xff\0".to_vec()),
        "./lib/a.http" => {
            Ok(b"# @import ./b.http\n@a = 1\n###\n# @name auth\n# @ref auth\nPOST http://a.example/{{b}}\n".to_vec())
        }
        "./lib/./b.http" => Ok(b"@b = 2\n### other\nGET http://a.example/\n".to_vec()),
        "./handler.js" => Ok(b"client.global.set('of', response.body.of);".to_vec()),
        _ => Err("cannot read it".to_owned()),
    }
}

fn imported_with(text: &str, environments: &[(&str, bool)], environment: Option<&str>) -> (String, String) {
    let of = |(text, is_secret): &(&str, bool)| Environment::Json { text: (*text).to_owned(), is_secret: *is_secret };
    let environments = environments.iter().map(of).collect();
    let options = Options { environments, environment: environment.map(str::to_owned), read: &read };
    checked(&import(text, &options).expect("it has requests"))
}

fn imported(text: &str) -> String {
    imported_with(text, &[], None).0
}

#[test]
fn names_variables_fields_and_references() {
    let text = "@host = http://shop.example\n@token = geheim\n\n### Log in\n# @name login\n# @no-redirect\nPOST {{host}}/login\n    ?a=1\n    &b=2 HTTP/1.1\n\
        Content-Type: application/json\nAuthorization: Bearer {{token}}\n\n{\"n\": \"{{$uuid}}\"}\n\n\
        ### Use\n{{host}}/use?t={{login.response.body.$.access}}\nX-B: {{login.response.headers.Location}}\n";
    let (file, summary) = imported_with(text, &[], None);
    let expected = "# name: login\nPOST {{host}}/login?a=1&b=2\nContent-Type: application/json\nAuthorization: Bearer {{token}}\n[Options]\n\
        variable: host=\"http://shop.example\"\n{\"n\": \"{{newUuid}}\"}\nHTTP *\n[Captures]\n\
        login_response_body___access: jsonpath \"$.access\"\nlogin_response_headers_Location: header \"Location\"\n\n\
        # name: Use\nGET {{host}}/use?t={{login_response_body___access}}\nX-B: {{login_response_headers_Location}}\n[Options]\nlocation: true\n";
    assert_eq!(file, expected);
    assert!(!file.contains("geheim") && summary.contains("HURL_VARIABLE_token"), "{summary}");
}

#[test]
fn a_variable_may_be_defined_by_a_response() {
    let file = imported(
        "# @name in\nGET http://a.example/\n###\n@key = {{in.response.body.$.key}}\nGET http://a.example/{{key}}\n",
    );
    assert!(file.contains("[Captures]\nin_response_body___key: jsonpath \"$.key\"\n"), "{file}");
    assert!(file.contains("variable: key=\"{{in_response_body___key}}\"\n"), "{file}");
}

#[test]
fn certain_statements_of_handlers_become_expectations_and_others_stay() {
    let file = imported(
        "GET http://a.example/\n\n> {%\nclient.test(\"ok\", function() {\n  client.assert(response.status === 200, \"m\");\n});\n\
         client.global.set(\"id\", response.body.id);\nif (a) { b(); }\n%}\n>> out.json\n",
    );
    assert!(file.contains("HTTP 200\n[Captures]\nid: jsonpath \"$.id\"\n"), "{file}");
    assert!(file.contains("# | if (a) { b(); }\n"), "{file}");
    assert!(file.contains("# left out: file for the response out.json (responses are not kept)\n"), "{file}");
}

#[test]
fn environments_are_chosen_by_name_and_private_ones_are_secrets() {
    let public = r#"{"dev": {"host": "dev.example", "who": "x"}, "$shared": {"path": "all"}}"#;
    let private = r#"{"dev": {"who": "geheim"}}"#;
    let text = "GET http://{{host}}/{{path}}\nX-Who: {{who}}\n";
    let (file, summary) = imported_with(text, &[(public, false), (private, true)], Some("dev"));
    assert!(file.contains("variable: host=\"dev.example\"\nvariable: path=\"all\"\n"), "{file}");
    assert!(!file.contains("geheim") && summary.contains("HURL_VARIABLE_who"), "{file}{summary}");
    let environments = vec![Environment::Json { text: public.to_owned(), is_secret: false }];
    let options = Options { environments, environment: Some("x".to_owned()), read: &read };
    let refused = import(text, &options).expect_err("there is no such environment").to_string();
    assert_eq!(refused, "unknown environment 'x': use dev");
}

#[test]
fn content_is_text_a_file_a_form_or_parts() {
    let post = |fields: &str, content: &str| imported(&format!("POST http://a.example/\n{fields}\n{content}\n"));
    assert!(post("Content-Type: a/b\n", "< ./part.bin").contains("file,./part.bin;"));
    assert!(post("Content-Type: text/plain\n", "a\n<@ ./part.txt\nb").contains("{{who}} of a file"));
    let form = post("Content-Type: application/x-www-form-urlencoded\n", "a = b c\n&d={{x}}\n");
    assert!(form.contains("a=b%20c&d={{x}}"), "{form}");
    let absolute = post("Content-Type: text/plain\n", "a\n< /etc/hostname");
    assert!(absolute.contains("# left out: content /etc/hostname (only relative paths are read: put"), "{absolute}");
    let missing = post("Content-Type: text/plain\n", "a\n< ./no.txt");
    assert!(missing.contains("# left out: content ./no.txt (cannot read it)\n"), "{missing}");
    let braces = post("Content-Type: text/plain\n", "a\n< ./part.txt");
    assert!(braces.contains("```,escape\na\n\\u{7b}\\u{7b}who}} of a file```"), "{braces}");
    let bytes = post("Content-Type: text/plain\n", "a\n< ./part.bin");
    assert!(bytes.contains("base64,YQqJe3t3aG99ff8A;"), "{bytes}");
    let both = post("Content-Type: text/plain\n", "{{x}}\n< ./part.bin");
    assert!(both.contains("# left out: content (a hurl file cannot have variables beside bytes"), "{both}");
}

#[test]
fn what_has_no_counterpart_is_said_and_what_has_no_request_is_refused() {
    let file = imported(
        "# @prompt code\n@v = 1\nGET {{$randomInt 3 9}}.example/{{v}}\n\n### two\n@v = 2\nGET /p/{{v}}\nHost: b.example\nAuthorization: Digest a b\n",
    );
    for line in [
        "# left out: @prompt code (no counterpart)",
        "# left out: function $randomInt 3 9 (no counterpart: replaced by a constant)",
        "digest: true",
        "GET http://b.example/p/{{v}}",
    ] {
        assert!(file.lines().any(|other| other == line), "{line}: {file}");
    }
    assert!(file.contains("variable: v=\"2\"") || file.contains("variable: v=2"), "{file}");
    let options = Options { environments: Vec::new(), environment: None, read: &read };
    for text in ["", "### only a name\n", "@a = b\n", "GRPC a.example/x\n"] {
        assert_eq!(import(text, &options).expect_err(text).to_string(), "the file has no HTTP requests", "{text}");
    }
}

#[test]
fn what_clients_do_not_send_is_said_in_one_line_each() {
    let file = imported(
        "GET http://a.example/x HTTP/1.1\n?token=geheim\nContent-Length: 3\n\n###\nGET http://a.example/y#geheim HTTP/2\n",
    );
    let expected = "# left out: target behind the version (clients do not send it)\n\
        # left out: field Content-Length: 3 (Torr sends the length of the content)\n\
        GET http://a.example/x\n[Options]\nlocation: true\n\n\
        # left out: fragment of the URL (clients do not send it)\n\
        # left out: version HTTP/2 (clients use HTTP/1.1 without TLS)\n\
        GET http://a.example/y\n[Options]\nlocation: true\n";
    assert_eq!(file, expected);
    assert!(imported("GET https://a.example/y HTTP/2\n").contains("http2: true\n"));
}

#[test]
fn a_target_has_its_scheme_and_its_host_from_wherever_they_are() {
    for (text, target) in [
        ("GET a.example:80/x\n", "GET http://a.example:80/x\n"),
        ("@host = a.example\nGET {{host}}/x\n", "GET http://{{host}}/x\n"),
        ("@host = a.example\n@all = {{host}}:1\nGET {{all}}/x\n", "GET http://{{all}}/x\n"),
        ("@host = https://a.example\nGET /x\n", "GET {{host}}/x\n"),
        ("GET /x\nHost: a.example:8443\n", "GET https://a.example:8443/x\n"),
        ("VERSION-CONTROL http://a.example/\n", "VERSIONCONTROL http://a.example/\n"),
        ("GET\n    http://a.example/x\n", "GET http://a.example/x\n"),
        ("http://a.example/x y\n", "GET http://a.example/x y\n"),
    ] {
        let file = imported(text);
        assert!(file.contains(target), "{text}: {file}");
    }
}

#[test]
fn windows_line_ends_and_a_mark_before_the_text_change_nothing() {
    let text = include_str!("../../../../tests/oracles/httpyac/shop.http");
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(imported(&windows), imported(text));
}

#[test]
fn files_of_lines_have_variables_that_are_credentials() {
    let lines = "A=1 # one\nexport B=\"two \\n lines\"\n# C=3\nD='#'\n";
    let environments = vec![Environment::Lines { text: lines.to_owned(), is_chosen: true }];
    let options = Options { environments, environment: Some("dev".to_owned()), read: &read };
    let draft = import("GET http://a.example/{{A}}/{{$dotenv B}}/{{D}}\n", &options).expect("it has a request");
    let secrets: Vec<_> = draft.secrets.iter().map(|of| (of.variable.as_str(), of.value.as_str())).collect();
    assert_eq!(secrets, [("A", "1"), ("B", "two \n lines"), ("D", "#")]);
    assert!(draft.text().starts_with("GET http://a.example/{{A}}/{{B}}/{{D}}\n"), "{}", draft.text());
}

#[test]
fn a_variable_has_its_value_from_its_definition_on() {
    let file = imported(
        "@v = 1\n@w = {{v}}-{{$uuid}}\n@l := {{v}}/{{$uuid}}\nGET http://a.example/{{v}}/{{w}}\n###\n@v = 2\n\
         GET http://a.example/{{v}}/{{l}}\n###\nGET http://a.example/{{l}}\n",
    );
    let options: Vec<&str> = file.lines().filter(|line| line.starts_with("variable")).collect();
    let lazy = "variable: l=\"{{v}}/{{newUuid}}\"";
    let expected = ["variable: v=\"1\"", "variable: w=\"{{v}}-{{newUuid}}\"", lazy, "variable: v=\"2\"", lazy];
    assert_eq!(options, expected, "{file}");
    // An environment's value holds until the file has another one.
    let environment = r#"{"dev": {"v": "0"}}"#;
    let text = "GET http://a.example/{{v}}\n###\n@v = 1\nGET http://a.example/{{v}}\n";
    let (file, _) = imported_with(text, &[(environment, false)], Some("dev"));
    let options: Vec<&str> = file.lines().filter(|line| line.starts_with("variable")).collect();
    assert_eq!(options, ["variable: v=\"0\"", "variable: v=\"1\""], "{file}");
    let quotes = imported("@v = \"1\"\nGET http://a.example/{{v}}\n");
    assert!(quotes.contains("# left out: meaning of quotes v (sent, as in VS Code; httpyac drops the first)\n"));
}

#[test]
fn references_have_the_notations_of_all_clients() {
    let first = "### Log in\nGET http://a.example/\n###\n";
    for (reference, capture) in [
        ("LogIn.a.b[0]['c']", "jsonpath \"$.a.b[0]['c']\""),
        ("LogInResponse.headers['X-A']", "header \"X-A\""),
        ("LogInResponse.statusCode", "status"),
        ("LogInResponse.parsedBody.a", "jsonpath \"$.a\""),
        ("LogIn.response.body.*", "body"),
        ("LogIn.response.body.//a", "xpath \"//a\""),
        ("LogIn.response.body.a", "jsonpath \"$.a\""),
        ("LogIn.response.headers.X-A", "header \"X-A\""),
        ("response.body", "body"),
    ] {
        let file = imported(&format!("{first}GET http://a.example/{{{{{reference}}}}}\n"));
        let captured = file.lines().find_map(|line| line.split_once(": ").filter(|(_, of)| *of == capture));
        let (name, _) = captured.unwrap_or_else(|| panic!("{reference}: {file}"));
        assert!(file.contains(&format!("GET http://a.example/{{{{{name}}}}}\n")), "{reference}: {file}");
    }
    for reference in ["LogIn.response.body.//a[", "LogIn.a.length", "LogIn.a.map(x => x)"] {
        let file = imported(&format!("{first}GET http://a.example/{{{{{reference}}}}}\n"));
        assert!(!file.contains("[Captures]"), "{reference}: {file}");
    }
}

#[test]
fn comments_say_how_a_request_is_sent() {
    let get = |comment: &str| {
        imported(&format!("# @name in\nGET http://a.example/{{{{$index}}}}\n###\n{comment}\nGET http://a.example/\n"))
    };
    for (comment, option) in [
        ("# @no-cookie-jar", "no-cookie-store: true"),
        ("// @noRejectUnauthorized", "insecure: true"),
        ("# @timeout 3 s", "max-time: 3s"),
        ("# @connection-timeout 2", "connect-timeout: 2s"),
        ("# @sleep 250", "delay: 250ms"),
    ] {
        assert!(get(comment).lines().any(|line| line == option), "{comment}: {}", get(comment));
    }
    for (comment, said) in [
        ("# @timeout 3", "@timeout 3 (seconds in JetBrains, milliseconds in httpyac: set the option max-time)"),
        ("# @ref out", "@ref out (no request before it has this name)"),
        ("# @loop while true", "@loop while true (the request is sent once)"),
        ("# @loop for 101", "@loop for 101 (the request is sent once)"),
        ("# @import ./a.http", "requests of another file ./a.http (cannot read it)"),
        ("import a.http", "requests of another file import a.http (import that file by itself)"),
        ("run #a", "requests of another file run #a (import that file by itself)"),
        ("# @no-auto-encoding", "@no-auto-encoding (no counterpart)"),
        ("< ./no.js", "script ./no.js (cannot read it)"),
    ] {
        let line = format!("# left out: {said}");
        assert!(get(comment).lines().any(|other| other == line), "{line}: {}", get(comment));
    }
    let count = |comment: &str| get(comment).matches("GET http://").count();
    assert_eq!(["# @ref in", "# @forceRef in", "# @loop for 3", "# @loop for x of [1, 'a']"].map(count), [2, 3, 4, 3]);
    assert!(!get("# @no-redirect").ends_with("location: true\n"));
}

#[test]
fn files_are_imported_with_variables_and_the_requests_that_others_name() {
    let file = imported(
        "# @import ./lib/a.http\n@c = {{a}}{{b}}\n###\nGET http://a.example/{{c}}\n###\n# @ref auth\nGET http://a.example/{{auth.id}}\n\
         ###\n# @ref later\nGET http://a.example/{{later.id}}\n###\n# @name later\nGET http://a.example/last\n",
    );
    let lines: Vec<&str> = file.lines().filter(|line| line.contains("http://")).collect();
    let first = "GET http://a.example/{{c}}";
    let auth = ["POST http://a.example/{{b}}", "GET http://a.example/{{auth_id}}"];
    let later = ["GET http://a.example/last", "GET http://a.example/{{later_id}}", "GET http://a.example/last"];
    assert_eq!(lines, [&[first][..], &auth, &later].concat(), "{file}");
    assert!(file.contains("# left out: @ref auth (no request before it has this name)\n"), "{file}");
    let options: Vec<&str> = file.lines().filter(|line| line.starts_with("variable")).collect();
    assert_eq!(options, ["variable: a=\"1\"", "variable: b=\"2\"", "variable: c=\"{{a}}{{b}}\""], "{file}");
}

#[test]
fn scripts_of_all_clients_are_read() {
    let file = imported("< {%\nrequest.variables.set('a', 'b');\n%}\nGET http://a.example/{{a}}\n\n> ./handler.js\n");
    assert!(file.contains("variable: a=\"b\"\n") && file.contains("of: jsonpath \"$.of\"\n"), "{file}");
    let file = imported(
        "{{\nexports.a = 'b';\nother();\n}}\nGET http://a.example/{{a}}\n\n{{\nexports.c = response.parsedBody.c;\ntest.status(201);\n}}\n",
    );
    for line in ["variable: a=\"b\"", "# | other();", "HTTP 201", "c: jsonpath \"$.c\""] {
        assert!(file.lines().any(|other| other == line), "{line}: {file}");
    }
    let file = imported(
        "GET http://a.example/\n\n?? status == 200\n?? header x-a includes b\n?? duration < 500\n?? js a > 1\n",
    );
    assert!(file.contains("HTTP 200\n[Asserts]\nheader \"x-a\" contains \"b\"\nduration < 500\n"), "{file}");
    assert!(file.starts_with("# left out: condition js a > 1 (no counterpart)\n"), "{file}");
    // A script that does not end stays in its request.
    assert_eq!(
        imported("GET http://a.example/\n\n> {%\na();\n\n###\nGET http://a.example/\n").matches("GET ").count(),
        2
    );
}

#[test]
fn credentials_are_variables() {
    for (field, made) in [
        ("Authorization: Basic ann geheim", "[BasicAuth]\nann: {{password}}\n"),
        ("Authorization: Basic ann:geheim", "[BasicAuth]\nann: {{password}}\n"),
        ("Authorization: Basic YTpi", "Authorization: Basic {{authorization}}\n"),
        ("Authorization: Bearer geheim", "Authorization: Bearer {{authorization}}\n"),
        ("Authorization: AWS ann geheim region:r service:s", "aws-sigv4: aws:amz:r:s\nuser: ann:{{secret_key}}\n"),
        ("Cookie: a=geheim; b={{c}}", "[Cookies]\na: {{cookie_a}}\nb: {{c}}\n"),
    ] {
        let (file, summary) = imported_with(&format!("GET http://a.example/\n{field}\n"), &[], None);
        assert!(file.contains(made), "{field}: {file}");
        assert!(!file.contains("geheim") && !summary.contains("geheim"), "{field}: {file}{summary}");
    }
    let pair = imported("@pair = ann:geheim\nGET http://a.example/\nAuthorization: Basic {{pair}}\n");
    assert!(pair.contains("[BasicAuth]\nann: {{password}}\n"), "{pair}");
}

#[test]
fn functions_have_the_current_date_or_a_constant() {
    let file = imported(
        "GET http://a.example/\nA: {{$datetime \"YYYY-MM-DD HH:mm:ss.SSS Z\"}}\nB: {{$timestamp -1 d}}\nC: {{$random.hexadecimal(3)}}\n\
         D: {{$processEnv HOME}} {{$env.HOME}}\nE: {{Date.now()}}\nF: {{1 + 1}}\nG: {{$localDatetime rfc1123}}\n",
    );
    for line in [
        "A: {{newDate dateFormat \"%Y-%m-%d %H:%M:%S.%3f %:z\"}}",
        "B: {{newDate dateFormat \"%s\"}}",
        "# left out: function $timestamp -1 d (no counterpart: the current time in UTC is sent)",
        "C: AAA",
        "D: {{getEnv \"HOME\"}} {{getEnv \"HOME\"}}",
        "E: {{newDate dateFormat \"%s%3f\"}}",
        "# left out: function 1 + 1 (no counterpart: replaced by a constant)",
        "# left out: function $localDatetime rfc1123 (no counterpart: the current time in UTC is sent)",
    ] {
        assert!(file.lines().any(|other| other == line), "{line}: {file}");
    }
}

#[test]
fn content_ends_where_the_clients_end_it() {
    let file = imported(
        "POST http://a.example/\n\n\n  a\n# gone\n@x = 1\nb\n\n\n<> saved.json\n\nGET http://b.example/\n\nHTTP/1.1 200 OK\nA: b\n\nsaved\n",
    );
    assert!(file.contains("```\n  a\nb```\n") && file.contains("GET http://b.example/\n"), "{file}");
    assert_eq!(file.matches("# left out: saved response").count(), 2, "{file}");
    assert!(file.contains("# left out: comment in the content (httpyac sends none)\n"), "{file}");
    let markdown = imported(
        "POST http://a.example/\nContent-Type: text/markdown\n\n# Title\n### Part\n// b\n###\nGET http://b.example/\n",
    );
    assert!(markdown.contains("```\n# Title\n### Part\n// b```\n") && markdown.contains("GET http://b"), "{markdown}");
}

#[test]
fn queries_of_graphql_are_json() {
    let text = "POST http://a.example/\nX-Request-Type: GraphQL\nContent-Type: application/json\n\n\
        query Q($a: Int) {\n  b(a: $a)\n}\n\n{\n  \"a\": {{n}}\n}\n";
    let file = imported(text);
    let json = r#"{"query":"query Q($a: Int) {\n  b(a: $a)\n}","operationName":"Q","variables":{"a":{{n}}}}"#;
    assert!(file.contains(json), "{file}");
    let short = imported("GRAPHQL http://a.example/\n\n{ a }\n");
    assert!(short.contains("POST http://a.example/\nContent-Type: application/json\n"), "{short}");
    assert!(short.contains(r#"{"query":"{ a }"}"#), "{short}");
}

#[test]
fn forms_are_encoded_as_the_clients_do() {
    let form = |text: &str| {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        imported(&format!("@b = c d\n@e = f/g\n@h = {{{{$uuid}}}} i\nPOST http://a.example/\n{kind}\n\n{text}\n"))
    };
    assert!(
        form("a = b c\n & d=100% %41|[]^ü").contains("```a=b%20c&d=100%25%20%41|[]^%C3%BC```\n"),
        "{}",
        form("a=1")
    );
    assert!(form("a={{b}}&c={{e}}").contains("```a=c%20d&c={{e}}```\n"), "{}", form("a={{b}}&c={{e}}"));
    let said = "# left out: encoding of a form's variable h (its value is sent as it is)\n";
    assert!(form("a={{h}}").contains(said), "{}", form("a={{h}}"));
}

#[test]
fn json_with_values_that_would_change_it_is_text() {
    let post = |value: &str, content: &str| {
        let file =
            imported(&format!("@v = {value}\nPOST http://a.example/\nContent-Type: application/json\n\n{content}\n"));
        file.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(post("1", r#"{"a": {{v}}}"#), r#"{"a": {{v}}}"#);
    assert_eq!(post("b", r#"{"a": "{{v}}"}"#), r#"{"a": "{{v}}"}"#);
    for (value, content) in [("b", r#"{"a": {{v}}}"#), (r#"{"b":1}"#, r#"{"a": {{v}}}"#), (r"\n", r#"{"a": "{{v}}"}"#)]
    {
        assert_eq!(post(value, content), format!("```{content}```"), "{value}");
    }
}

#[test]
fn definitions_of_a_request_that_is_left_out_hold_for_the_next() {
    let file =
        imported("@v = 1\nGET http://a.example/{{v}}\n###\n@v = 2\nGET /no/host\n###\nGET http://a.example/{{v}}\n");
    assert!(file.ends_with("GET http://a.example/{{v}}\n[Options]\nvariable: v=\"2\"\nlocation: true\n"), "{file}");
}
