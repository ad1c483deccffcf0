//! Files of requests, and the hurl files that become of them.

use super::{Environment, Options, import};
use torr_session::hurl::parse;

fn read(name: &str) -> Result<Vec<u8>, String> {
    match name {
        "./part.txt" => Ok(b"{{who}} of a file".to_vec()),
        "./part.bin" => Ok(b"\x89{{who}}\xff\0".to_vec()),
        "./handler.js" => Ok(b"client.global.set('of', response.body.of);".to_vec()),
        _ => Err("cannot read it".to_owned()),
    }
}

fn imported_with(text: &str, environments: &[(&str, bool)], environment: Option<&str>) -> (String, String) {
    let of = |(text, is_secret): &(&str, bool)| Environment::Json { text: (*text).to_owned(), is_secret: *is_secret };
    let environments = environments.iter().map(of).collect();
    let options = Options { environments, environment: environment.map(str::to_owned), read: &read };
    let draft = import(text, &options).expect("it has requests");
    let file = draft.text();
    parse(&file).unwrap_or_else(|error| panic!("{error}\n{file}"));
    (file, draft.summary())
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
        "# left out: authorization Digest (this authentication scheme is not supported)",
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
