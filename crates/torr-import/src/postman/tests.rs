//! Collections as Postman exports them, and the hurl files that become of them.

use super::{Beside, import, import_with};
use crate::made::checked;
use serde_json::{Value, json};

const SHOP: &str = include_str!("../../samples/shop-2.1.postman_collection.json");
const ENVIRONMENT: &str = include_str!("../../samples/test.postman_environment.json");
const ECHO: &str = include_str!("../../samples/echo-2.0.postman_collection.json");

fn imported(text: &str, environment: Option<&str>) -> (String, String) {
    checked(&import(text, environment).expect("it is a collection"))
}

/// Returns the hurl file of one request.
fn request(request: Value, script: &[&str]) -> String {
    let event = json!([{"listen": "test", "script": {"exec": script}}]);
    imported(&json!({"item": [{"name": "a", "event": event, "request": request}]}).to_string(), None).0
}

fn entry<'t>(file: &'t str, name: &str) -> &'t str {
    let start = file.find(&format!("# name: {name}\n")).unwrap_or_else(|| panic!("no {name} in {file}"));
    file[start..].split("\n\n").next().unwrap_or_default()
}

#[test]
fn a_collection_of_2_1_with_its_environment() {
    let (file, summary) = imported(SHOP, Some(ENVIRONMENT));
    let expected = "# name: Log in\nPOST {{baseUrl}}/login?lang={{lang}}\nX-Request-Id: {{newUuid}}\nX-Attempt: {{attempt}}\n[Options]\n\
        variable: scheme=\"https\"\nvariable: baseUrl=\"{{scheme}}://shop.example\"\nvariable: lang=\"en\"\nvariable: host=\"shop.example\"\n\
        variable: attempt=1\nlocation: true\n{\n    \"user\": \"{{user}}\",\n    \"password\": \"{{password}}\",\n    \
        \"at\": {{newDate dateFormat \"%s\"}}\n}\nHTTP 200\n[Captures]\ntoken: jsonpath \"$.access_token\"\n\
        user_id: jsonpath \"$.user['first-id']\"\n[Asserts]\nheader \"Content-Type\" exists\nduration < 500\n\
        jsonpath \"$.user.name\" == \"Ann\"\njsonpath \"$.roles\" count >= 1\njsonpath \"$.beta\" not exists";
    assert_eq!(entry(&file, "Log in"), expected);
    assert!(!file.contains("geheim") && !summary.contains("geheim") && !file.contains("k-123"), "{file}{summary}");
    for line in [
        "6 requests",
        "secret: variable user is the variable 'user', read from HURL_VARIABLE_user",
        "captured: 'token' from a test script of request 1",
        "variable 'text' has no value",
        "left out: setNextRequest, 1 time (the entries of a hurl file run in order)",
        "left out: part of a test script, 1 time",
        "left out: part of a pre-request script, 1 time",
        "left out: file of a form, 1 time (missing in the collection)",
        "left out: dynamic variable, 1 time",
        "left out: saved responses, 1 time",
        "left out: field, 1 time (disabled in the collection)",
    ] {
        assert!(summary.lines().any(|said| said.starts_with(line)), "{line}: {summary}");
    }
    assert!(!summary.contains("'attempt' has no value") && !summary.contains("'token' has no value"), "{summary}");
}

#[test]
fn authorization_is_inherited_from_folders() {
    let (file, _) = imported(SHOP, Some(ENVIRONMENT));
    assert!(!entry(&file, "Log in").contains("Authorization"), "noauth ends the inheritance: {file}");
    assert!(entry(&file, "Avatar").contains("/users/{{user_id}}/avatar\nAuthorization: Bearer {{token}}\n"), "{file}");
    assert!(entry(&file, "Search").contains("X-Api-Key: {{x_api_key}}\n"), "{file}");
    assert!(!entry(&file, "Signed").contains("X-Api-Key"), "{file}");
    let signed = "aws-sigv4: aws:amz:eu-west-1:s3\nuser: AKIA:{{aws_key}}\n";
    assert!(entry(&file, "Signed").contains(signed), "{file}");
    let hawk = json!({"item": [{"request": {"url": "http://a/", "auth": {"type": "hawk", "hawk": []}}}]});
    let (file, _) = imported(&hawk.to_string(), None);
    assert!(file.contains("# left out: authorization hawk (this authentication scheme is not supported)\n"), "{file}");
}

#[test]
fn credentials_in_a_url_become_variables() {
    let collection = json!({
        "item": [
            {"request": "http://ann:pa55@a/?q='x'&token=s3cret"},
            {"request": "{{base}}/b"}, {"request": "http://{{user}}:0ther@c/"},
        ],
        "variable": [{"key": "base", "value": "http://ann:ba5e@b"}, {"key": "user", "value": "bob"}],
    });
    let (file, summary) = imported(&collection.to_string(), None);
    for line in [
        "# left out: characters of the URL ' (the target is sent as /?q=%27x%27&token=x)",
        "GET http://ann:{{password}}@a/?q='x'&token={{token}}",
        "variable: base=\"http://ann:{{password_2}}@b\"",
        "GET {{base}}/b",
        "GET http://{{user}}:{{password_3}}@c/",
    ] {
        assert!(file.lines().any(|said| said == line), "{line}: {file}");
    }
    for secret in ["pa55", "s3cret", "ba5e", "0ther"] {
        assert!(!file.contains(secret) && !summary.contains(secret), "{secret}: {file}{summary}");
    }
    let line = "secret: the password of the URL is the variable 'password', read from HURL_VARIABLE_password";
    assert!(summary.lines().any(|said| said == line), "{summary}");
}

#[test]
fn bodies_and_urls_of_every_kind() {
    let (file, _) = imported(SHOP, Some(ENVIRONMENT));
    assert!(entry(&file, "Avatar").contains("[Multipart]\ncaption: me\ntoken: {{token_2}}\n"), "{file}");
    let search = entry(&file, "Search");
    assert!(search.contains("insecure: true\n```graphql\nquery find(") && !search.contains("location"), "{search}");
    assert!(search.ends_with("variables {\"text\": \"{{text}}\"}\n```"), "{search}");
    assert!(entry(&file, "Order").contains("POST http://{{host}}:8080/orders\n"), "{file}");
    assert!(entry(&file, "Order").contains("[Form]\nsku: a b&c\nmail: ann@example.org"), "{file}");
    assert!(entry(&file, "Ping").contains("GET https://status.example/ping\n"), "{file}");
    assert!(entry(&file, "Signed").contains("GET https://api.example:8443/v1/x\n"), "{file}");
    let file = request(
        json!({"method": "POST", "url": "http://a/", "body": {"mode": "file", "file": {"src": "/home/me/data.bin"}}}),
        &[],
    );
    assert!(
        file.contains("# left out: folder of a file /home/me/data.bin") && file.contains("file,data.bin;"),
        "{file}"
    );
}

#[test]
fn a_collection_of_2_0_has_objects_for_lists_and_text_for_objects() {
    let (file, summary) = imported(ECHO, None);
    let expected = "# name: Basic\nGET https://echo.example/basic-auth?x={{unknown}}\nAccept: application/json\nX-A: b\n[Options]\n\
        location: true\n[BasicAuth]\npostman: {{password}}\nHTTP 200\n[Captures]\nid: jsonpath \"$.items[0].id\"\n[Asserts]\nbody contains \"ann\"\n\n\
        # name: File\nPOST http://echo.example/xml\nContent-Type: application/xml\n[Options]\nlocation: true\n```<a>{{id}}</a>```\n";
    assert_eq!(file, expected);
    assert!(summary.contains("variable 'unknown' has no value: set it with --variable unknown=VALUE"), "{summary}");
}

#[test]
fn a_statement_that_does_not_always_run_stays_a_comment() {
    let file = request(
        json!("http://a/"),
        &[
            "if (pm.response.code === 200) {",
            "    pm.test(\"x\", function () {",
            "        pm.response.to.have.status(200);",
            "    });",
            "}",
            "for (const x of [1]) { pm.response.to.have.status(201); }",
            "/* pm.response.to.have.status(202); */",
            "pm.expect(pm.response.json().n).to.equal(other);",
            "pm.response.to.have.header('X-Last');",
            "return;",
            "pm.response.to.have.status(203);",
        ],
    );
    assert!(file.contains("HTTP *\n[Asserts]\nheader \"X-Last\" exists\n"), "{file}");
    assert_eq!(file.matches("# | ").count(), 9, "{file}");
}

#[test]
fn statements_have_their_counterparts() {
    for (statement, expected) in [
        ("pm.expect(pm.response.code).to.be.oneOf([200, 204]);", "status toString matches /^(200|204)$/"),
        ("pm.expect(pm.response.text()).to.include('ok')", "body contains \"ok\""),
        ("pm.expect(pm.response.headers.get('X')).to.not.eql('1')", "header \"X\" not == \"1\""),
        ("pm.expect(pm.response.json().a[0]['b c']).to.be.a('string');", "jsonpath \"$.a[0]['b c']\" isString"),
        ("pm.expect(pm.response.json()).to.have.property('id', 7);", "jsonpath \"$.id\" == 7"),
        ("pm.expect(pm.response.json().a).to.match(/^x+$/i);", "jsonpath \"$.a\" matches /(?i)^x+$/"),
        ("pm.expect(pm.response.json().list).to.have.lengthOf(3);", "jsonpath \"$.list\" count == 3"),
        ("pm.expect(pm.response.json().a).to.be.undefined;", "jsonpath \"$.a\" not exists"),
        ("pm.response.to.be.json;", "header \"Content-Type\" contains \"json\""),
        ("tests['t'] = responseTime < 200;", "duration < 200"),
        ("pm.expect(responseCode.code).to.eql(404);", "HTTP 404"),
        ("pm.globals.set('x', pm.response.headers.get('ETag'));", "x: header \"ETag\""),
    ] {
        let file = request(json!("http://a/"), &[statement]);
        assert!(file.contains(expected) && !file.contains("# |"), "{statement}: {file}");
    }
    for statement in [
        "pm.expect(pm.response.json().list).to.include(3);",
        "pm.expect(pm.response.json().a[99999999999999999999]).to.eql(1);",
        "pm.expect(pm.response.json().a).to.match(/(?<=x)y/);",
        "pm.expect(f(pm.response.json().a)).to.eql(1);",
        "pm.environment.set('x', pm.response.json().a + 1);",
        "pm.expect(pm.response.json().a).to.eql('it\\'s');",
    ] {
        let file = request(json!("http://a/"), &[statement]);
        assert!(file.contains("# | ") && !file.contains("HTTP"), "{statement}: {file}");
    }
}

#[test]
fn variables_that_name_each_other_and_odd_names_end() {
    let collection = json!({
        "item": [{"request": {"url": "{{a}}/{{newUuid}}/{{my var}}/{{my_var}}", "method": "GET"}}],
        "variable": [{"key": "a", "value": "{{b}}"}, {"key": "b", "value": "{{a}}"}, {"key": "my var", "value": "1"}, {"key": "my_var", "value": "2"}],
    });
    let (file, _) = imported(&collection.to_string(), None);
    assert!(file.contains("/{{newUuid_}}/{{my_var}}/{{my_var_2}}\n"), "{file}");
    assert!(file.contains("my_var=\"1\"") && file.contains("my_var_2=\"2\""), "{file}");
}

#[test]
fn what_is_no_collection_is_refused_in_one_line() {
    for (text, message) in [
        ("", "not a valid Postman collection: EOF"),
        ("{}", "'item' is missing"),
        (
            ENVIRONMENT,
            "expected a collection, found a file of variables: pass it with --environment beside the collection",
        ),
        ("{\"values\": [], \"_postman_variable_scope\": \"globals\"}", "pass it with --globals"),
        ("{\"collections\": [{\"name\": \"a\"}]}", "found a whole workspace"),
        (r#"{"requests": [], "order": []}"#, "format 1 is not supported: export it from Postman as 2.1"),
        (
            r#"{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"}, "item": []}"#,
            "has no requests",
        ),
    ] {
        let error = import(text, None).expect_err(text).to_string();
        assert!(error.contains(message) && !error.contains('\n'), "{text}: {error}");
    }
    assert!(import(SHOP, Some("{}")).expect_err("it is none").to_string().contains("has no 'values'"));
}

#[test]
fn variables_of_the_environment_win_over_those_of_the_collection_and_over_globals() {
    let collection = r#"{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "variable": [{"key": "b", "value": "collection"}, {"key": "c", "value": "collection"}],
        "item": [{"name": "r", "request": {"method": "GET", "url": "http://a/{{a}}/{{b}}/{{c}}"}}]}"#;
    let values = |value: &str, names: &[&str]| {
        let rows: Vec<_> = names.iter().map(|name| format!(r#"{{"key": "{name}", "value": "{value}"}}"#)).collect();
        format!(r#"{{"values": [{}]}}"#, rows.join(","))
    };
    let (globals, environment) = (values("globals", &["a", "b"]), values("environment", &["c"]));
    let beside = Beside { environment: Some(&environment), globals: Some(&globals) };
    let file = import_with(collection, beside).expect("it is a collection").text();
    for line in ["variable: a=\"globals\"", "variable: b=\"collection\"", "variable: c=\"environment\""] {
        assert!(file.lines().any(|said| said == line), "{line}: {file}");
    }
    // An environment may be empty.
    assert!(import(collection, Some(&values("", &[]))).is_ok());
}

#[test]
fn names_of_files_have_no_variables() {
    let collection = r#"{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "item": [{"name": "r", "request": {"method": "POST", "url": "http://a/", "body": {"mode": "formdata", "formdata": [
            {"key": "f", "type": "file", "src": "{{dir}}/a.png"}, {"key": "g", "type": "file", "src": "{{file}}"}]}}}]}"#;
    let file = import(collection, None).expect("it is a collection").text();
    assert!(file.contains("[Multipart]\nf: file,a.png;\ng: file,file;\n"), "{file}");
    let said = "# left out: name of a file {{file}} (variables are not supported in file names, as files are read \
                before the run)\n";
    assert!(file.contains(said), "{file}");
}

#[test]
fn content_is_sent_only_with_methods_that_postman_sends_it_with() {
    let item = |method: &str, behaviour: Value| {
        json!({"name": "g", "protocolProfileBehavior": behaviour, "request": {"method": method, "url": "http://a/g",
            "body": {"mode": "raw", "raw": "{\"a\":1}", "options": {"raw": {"language": "json"}}}}})
    };
    let of = |item: Value| imported(&json!({"info": {"schema": "/collection/"}, "item": [item]}).to_string(), None);
    for method in ["GET", "HEAD", "COPY"] {
        let (file, _) = of(item(method, Value::Null));
        let said = format!("# left out: content (Postman sends none with {method} without disableBodyPruning)\n");
        assert!(file.starts_with(&said) && !file.contains("{\"a\""), "{file}");
    }
    let (file, _) = of(item("GET", json!({"disableBodyPruning": true, "disableCookies": true})));
    assert!(
        file.contains("no-cookie-store: true\n") && file.contains("{\"a\":1}") && !file.contains("left out"),
        "{file}"
    );
    let (file, _) = of(item("P0ST", json!({"disabledSystemHeaders": {"accept": true}})));
    assert!(file.contains("# left out: method P0ST (hurl methods must be in capital letters: PST is sent)"), "{file}");
    assert!(file.contains("no-header: Accept\n"), "{file}");
}
