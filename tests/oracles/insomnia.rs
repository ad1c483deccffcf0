//! Insomnia's own code, as its last command line on npm has it (release 2022.6), as an oracle: an export of version 4, and the same as
//! version 5, become hurl files that send what it sends. Its native binding of libcurl is replaced by the command line of curl.

use crate::compare::{assert_same, compared};
use crate::echo::{Arrived, Echo};
use crate::newman::ORACLES;
use crate::walk;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use torr_test_support::program::Running;

/// Fields that Insomnia adds to every request.
const OWN: &[&str] = &["accept", "accept-encoding"];

const JSON: &str = r#"{"name": "Content-Type", "value": "application/json"}"#;
const FORM: &str = r#"{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}"#;

/// Requests: a name, a method, a URL and other members.
const REQUESTS: &[(&str, &str, &str, &str)] = &[
    (
        "log in",
        "POST",
        "{{ _.host }}/token",
        r#""body": {"mimeType": "application/json", "text": "{}"}, "headers": [JSON]"#,
    ),
    (
        "encoded",
        "GET",
        "{{ _.host }}/a b/%C3%A9%20x/(y)!*'/$&+,;=:@?a=b%20c&d=e f&p=a+b&q=1=2&&=z&flag&c=x,y&m=%2541#part",
        "",
    ),
    ("malformed", "GET", "{{ _.host }}/100%/x?a=100%&b=%zz", ""),
    (
        "not encoded",
        "GET",
        "{{ _.host }}/a,b/(c)?x=1,2&y=a%20b#f",
        r#""settingEncodeUrl": false, "parameters": [{"name": "p q", "value": "r/s,t"}]"#,
    ),
    ("values", "GET", "{{ _.host }}/x/{{ _.text }}/y?q={{ _.text }}&n={{ _.number }}", ""),
    (
        "parameters",
        "GET",
        "{{ host }}/p?first=1",
        r#""parameters": [{"name": "a b", "value": "c d/e,f&g=h"}, {"name": "off", "value": "x", "disabled": true},
        {"name": "n", "value": "{{ _.number }}"}, {"name": "t", "value": "{{ _.text }}"}, {"name": "", "value": "nameless"}, {"name": "é", "value": "%20 100%"}]"#,
    ),
    ("without scheme", "GET", "{{ _.address }}/plain", ""),
    ("deep", "GET", "{{ _.host }}/{{ _.deep.list[1].name }}/{{ _['a-b'] }}/{{ _.deep.list[0] }}", ""),
    ("own", "GET", "{{ _.host }}/{{ _.path }}", ""),
    (
        "json",
        "POST",
        "{{ _.host }}/json",
        r#""body": {"mimeType": "application/json", "text": "{\n  \"a\": {{ _.number }}, \"b\": \"{{ _.quoted }}\"\n}\n"}, "headers": [JSON]"#,
    ),
    (
        "plain json",
        "PUT",
        "{{ _.host }}/json",
        r#""body": {"mimeType": "application/json", "text": "{\"a\":   [1, 2]}"}, "headers": [JSON]"#,
    ),
    (
        "json without a field",
        "POST",
        "{{ _.host }}/json",
        r#""body": {"mimeType": "application/json", "text": "{\"a\": 1}"}"#,
    ),
    (
        "json of get",
        "GET",
        "{{ _.host }}/json",
        r#""body": {"mimeType": "application/json", "text": "{\"a\": 1}"}, "headers": [JSON]"#,
    ),
    (
        "text",
        "PATCH",
        "{{ _.host }}/text",
        r#""body": {"mimeType": "text/plain", "text": "line {{ _.text }}\n  two {% base64 'encode', 'normal', 'a:b' %} {% base64 'encode', 'url', _.text %}"},
        "headers": [{"name": "Content-Type", "value": "text/plain"}]"#,
    ),
    (
        "not rendered",
        "POST",
        "{{ _.host }}/text",
        r#""body": {"mimeType": "text/plain", "text": "{{ _.text }} {% uuid %}"}, "settingDisableRenderRequestBody": true"#,
    ),
    ("without content", "POST", "{{ _.host }}/none", r#""body": {}"#),
    ("delete", "DELETE", "{{ _.host }}/none", ""),
    ("head", "HEAD", "{{ _.host }}/none", ""),
    (
        "graphql",
        "POST",
        "{{ _.host }}/graphql",
        r#""body": {"mimeType": "application/graphql", "text": "{\n \"query\": \"query { a(x: \\\"1\\\") {b} #}\\n}\", \"variables\": {\"n\": 1.5, \"t\": \"{{ _.number }}\"}}"}, "headers": [JSON]"#,
    ),
    (
        "form",
        "POST",
        "{{ _.host }}/form",
        r#""body": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "1"}, {"name": "b", "value": "{{ _.number }}"},
        {"name": "off", "value": "x", "disabled": true}]}, "headers": [FORM]"#,
    ),
    (
        "form with space",
        "POST",
        "{{ _.host }}/form",
        r#""body": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "c d~*'é&="},
        {"name": "t", "value": "{{ _.text }}"}, {"name": "", "value": "nameless"}]}, "headers": [FORM]"#,
    ),
    (
        "form without a field",
        "POST",
        "{{ _.host }}/form",
        r#""body": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "1"}]}"#,
    ),
    (
        "multipart",
        "POST",
        "{{ _.host }}/upload",
        r#""body": {"mimeType": "multipart/form-data", "params": [{"name": "a", "value": "{{ _.text }}"}, {"name": "f", "type": "file", "fileName": "a.txt"},
        {"name": "off", "value": "x", "disabled": true}, {"name": "", "value": ""}]}, "headers": [{"name": "Content-Type", "value": "multipart/form-data"}]"#,
    ),
    (
        "typed parts",
        "POST",
        "{{ _.host }}/upload",
        r#""body": {"mimeType": "multipart/form-data", "params": [{"name": "a", "value": "{}", "multiline": "application/json"}, {"name": "b", "value": "2"}]}"#,
    ),
    (
        "file",
        "POST",
        "{{ _.host }}/file",
        r#""body": {"mimeType": "application/octet-stream", "fileName": "a.txt"}, "headers": [{"name": "Content-Type", "value": "application/octet-stream"}]"#,
    ),
    (
        "fields",
        "GET",
        "{{ _.host }}/fields",
        r#""headers": [{"name": "X-A", "value": "{{ _.text }}"}, {"name": "x-off", "value": "1", "disabled": true}, {"name": "X-Empty", "value": ""}, {"name": "User-Agent", "value": "own/1"}]"#,
    ),
    (
        "basic",
        "GET",
        "{{ _.host }}/auth",
        r#""authentication": {"type": "basic", "username": "mia", "password": "{{ _.number }}é"}"#,
    ),
    (
        "basic without a name",
        "GET",
        "{{ _.host }}/auth",
        r#""authentication": {"type": "basic", "username": "", "password": "x5"}"#,
    ),
    (
        "basic off",
        "GET",
        "{{ _.host }}/auth",
        r#""authentication": {"type": "basic", "username": "mia", "password": "x", "disabled": true}"#,
    ),
    (
        "bearer",
        "GET",
        "{{ _.host }}/auth",
        r#""authentication": {"type": "bearer", "token": "{{ _.number }}", "prefix": "Token"}"#,
    ),
    (
        "bearer with a field",
        "GET",
        "{{ _.host }}/auth",
        r#""authentication": {"type": "bearer", "token": "{{ _.number }}"}, "headers": [{"name": "authorization", "value": "{{ _.number }}"}]"#,
    ),
    // The command line keeps no responses, so that it sends the request that a tag names; the application does so at first.
    (
        "response",
        "GET",
        "{{ _.host }}/after",
        r#""headers": [{"name": "X-Token", "value": "{% response 'body', 'req_LAST', 'b64::JC5hY2Nlc3NfdG9rZW4=::46b', 'no-history' %}"},
        {"name": "X-Name", "value": "{% request 'name', '', 0 %}"}]"#,
    ),
    ("without cookies", "GET", "{{ _.host }}/cookies", r#""settingSendCookies": false, "settingStoreCookies": false"#),
    ("cookies", "GET", "{{ _.host }}/cookies", ""),
    ("redirect", "GET", "{{ _.host }}/redirect", ""),
    ("no redirect", "GET", "{{ _.host }}/redirect", r#""settingFollowRedirects": "off""#),
    ("redirect of post", "POST", "{{ _.host }}/redirect", r#""body": {"mimeType": "text/plain", "text": "x"}"#),
    ("user", "GET", "http://mia:pw@{{ _.address }}/user", ""),
    (
        "user and more",
        "GET",
        "http://mia:pw@{{ _.address }}/user",
        r#""authentication": {"type": "bearer", "token": "{{ _.number }}"}"#,
    ),
    (
        "token",
        "GET",
        "{{ _.host }}/oauth",
        r#""authentication": {"type": "oauth2", "grantType": "client_credentials", "accessTokenUrl": "{{ _.host }}/token",
        "clientId": "me", "clientSecret": "s1", "scope": "a b", "audience": "x&y", "credentialsInBody": true}"#,
    ),
    (
        "another token",
        "GET",
        "{{ _.host }}/oauth",
        r#""authentication": {"type": "oauth2", "grantType": "password", "accessTokenUrl": "{{ _.host }}/token",
        "username": "mia", "password": "pw", "clientId": "me", "clientSecret": "s1", "tokenPrefix": "Own"}"#,
    ),
    (
        "comments",
        "POST",
        "{{ _.host }}/text",
        r#""body": {"mimeType": "text/plain", "text": "a{# no #}b {{- _.number -}} c {% raw %}{{ d }}{% endraw %}"}"#,
    ),
    (
        "values of other types",
        "POST",
        "{{ _.host }}/text",
        r#""body": {"mimeType": "text/plain", "text": "{{ _.yes }} {{ _.half }} {{ _.whole }} {{ _.deep.list }} {{ _.deep }}"}"#,
    ),
    ("dots", "GET", "{{ _.host }}/a/../b", ""),
    ("kept dots", "GET", "{{ _.host }}/a/../b", r#""settingRebuildPath": false"#),
];

/// Returns a token, a redirect or nothing, and sets a cookie.
fn respond(request: &Arrived) -> Option<Vec<u8>> {
    let head = match request.target.as_str() {
        "/redirect" => "HTTP/1.1 302 Found\r\nLocation: /redirected",
        _ => "HTTP/1.1 200 OK\r\nContent-Type: application/json",
    };
    let body = r#"{"access_token":"t1"}"#;
    let sent = if request.method == "HEAD" { "" } else { body };
    Some(format!("{head}\r\nSet-Cookie: visit=1; Path=/\r\nContent-Length: {}\r\n\r\n{sent}", body.len()).into_bytes())
}

/// Returns the resources of an export of version 4.
fn resources(origin: &str) -> Vec<Value> {
    let data = json!({
        "host": origin, "address": origin.trim_start_matches("http://"), "text": "a b&c", "number": 5, "quoted": "say \"hi\"",
        "a-b": "dash", "deep": {"list": [1, {"name": "d"}]}, "path": "base", "over": "base", "yes": true, "half": 1.5, "whole": 2.0,
    });
    let mut made = vec![
        json!({"_type": "workspace", "_id": "wrk_1", "parentId": null, "name": "w", "scope": "collection"}),
        json!({"_type": "environment", "_id": "env_1", "parentId": "wrk_1", "name": "Base", "data": data}),
        json!({"_type": "environment", "_id": "env_2", "parentId": "env_1", "name": "local", "data": {"path": "{{ path }}/sub", "over": "sub"}}),
        json!({"_type": "cookie_jar", "_id": "jar_1", "parentId": "wrk_1", "name": "jar", "cookies": []}),
    ];
    // Folders, of which the second is the first by its key.
    for (at, name) in ["one", "two"].iter().enumerate() {
        let environment =
            json!({"over": name, "own": format!("{name} {{{{ _.number }}}}"), "path": "{{ path }}/folder"});
        made.push(json!({"_type": "request_group", "_id": format!("fld_{name}"), "parentId": "wrk_1", "name": name,
            "metaSortKey": -1 - at as i64, "environment": environment}));
        made.push(json!({"_type": "request_group", "_id": format!("fld_in_{name}"), "parentId": format!("fld_{name}"), "name": "in",
            "metaSortKey": 1, "environment": {"inner": "{{ _.own }}!"}}));
        for (folder, key) in [(format!("fld_{name}"), 2), (format!("fld_in_{name}"), 1)] {
            made.push(json!({"_type": "request", "_id": format!("req_{folder}"), "parentId": folder, "name": name, "metaSortKey": key,
                "method": "POST", "url": "{{ _.host }}/{{ _.over }}/{{ _.path }}?own={{ _.own }}",
                "body": {"mimeType": "text/plain", "text": "{{ _.own }}{{ _.inner }}".replace("{{ _.inner }}", if key == 1 { "{{ _.inner }}" } else { "" })}}));
        }
    }
    for (at, (name, method, url, more)) in REQUESTS.iter().enumerate() {
        let more = more.replace("[JSON]", &format!("[{JSON}]")).replace("[FORM]", &format!("[{FORM}]"));
        let more = more.replace("req_LAST", &format!("req_{}", REQUESTS.len() - 1));
        let more: Value =
            serde_json::from_str(&format!("{{{more}}}")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut request = json!({"_type": "request", "_id": format!("req_{at}"), "parentId": "wrk_1", "name": name, "method": method,
            "url": url, "metaSortKey": at, "body": {}, "parameters": [], "headers": [], "authentication": {},
            "settingSendCookies": true, "settingStoreCookies": true, "settingEncodeUrl": true, "settingRebuildPath": true,
            "settingFollowRedirects": "global"});
        for (member, value) in more.as_object().expect("it is one") {
            request[member] = value.clone();
        }
        made.push(request);
    }
    made
}

/// Returns what is part of a resource as an export of version 5 has it.
fn children(of: &str, all: &[Value]) -> Vec<Value> {
    let mut made = Vec::new();
    for one in all.iter().filter(|one| one["parentId"] == of) {
        let meta = json!({"id": one["_id"], "sortKey": one["metaSortKey"]});
        match one["_type"].as_str() {
            Some("request_group") => {
                let inner = children(one["_id"].as_str().expect("it is text"), all);
                made.push(
                    json!({"name": one["name"], "meta": meta, "environment": one["environment"], "children": inner}),
                );
            }
            Some("request") => {
                let flag = |name: &str, otherwise: bool| one[name].as_bool().unwrap_or(otherwise);
                made.push(json!({
                    "name": one["name"], "meta": meta, "url": one["url"], "method": one["method"], "body": one["body"],
                    "parameters": one["parameters"], "headers": one["headers"], "authentication": one["authentication"],
                    "settings": {
                        "renderRequestBody": !flag("settingDisableRenderRequestBody", false),
                        "encodeUrl": flag("settingEncodeUrl", true),
                        "rebuildPath": flag("settingRebuildPath", true),
                        "followRedirects": one["settingFollowRedirects"].as_str().unwrap_or("global"),
                        "cookies": {"send": flag("settingSendCookies", true), "store": flag("settingStoreCookies", true)},
                    },
                }));
            }
            _ => {}
        }
    }
    made
}

#[test]
#[ignore = "Insomnia's command line is installed by ./test full"]
fn what_is_imported_sends_what_insomnia_sends() {
    let echo = Echo::responding(respond);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    std::fs::write(folder.join("a.txt"), "file\n").expect("there is room");
    let resources = resources(&echo.origin);
    let four = json!({"_type": "export", "__export_format": 4, "resources": resources});
    let data = |at: usize| &resources[at]["data"];
    let five = json!({
        "type": "collection.insomnia.rest/5.0", "name": "w", "collection": children("wrk_1", &resources),
        "environments": {"name": "Base", "data": data(1), "subEnvironments": [{"name": "local", "data": data(2)}]},
    });
    std::fs::write(folder.join("four.json"), four.to_string()).expect("there is room");
    std::fs::write(folder.join("five.yaml"), five.to_string()).expect("there is room");
    let oracles = std::env::var(ORACLES).expect("./test full sets it");
    let mut insomnia = Command::new("node");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles/insomnia/send.cjs");
    let installed = Path::new(&oracles).join("insomnia");
    insomnia.arg(script).arg(installed).args(["four.json", "env_2"]).current_dir(folder);
    let ended = Running::start(insomnia).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = compared(echo.take(), OWN);
    assert_eq!(expected.len(), REQUESTS.len() + 4 + 2 + 1 + 2);
    for file in ["four.json", "five.yaml"] {
        let imported = walk::import(folder, &["insomnia", file, "--env", "local"]);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        let sent = walk::once(folder, &echo, &[("password", "x5"), ("password_2", "pw"), ("client_secret", "s1")], OWN);
        assert_same(&sent, &expected);
    }
}
