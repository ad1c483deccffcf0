//! newman as an oracle: a collection, and what is imported of it, send the same requests.

use crate::compare::{assert_same, compared};
use crate::echo::Echo;
use crate::walk;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use torr_test_support::program::Running;

/// The environment variable that names the folder of the programs, as `./test full` sets it.
pub const ORACLES: &str = "TORR_ORACLES";

/// Fields that Postman adds to every request.
const OWN: &[&str] = &["accept", "accept-encoding", "cache-control", "postman-token"];

fn requests(base: &str) -> Vec<Value> {
    let json = json!({"raw": {"language": "json"}});
    vec![
        json!({"method": "GET", "url": format!("{base}/plain?a=b%20c&d=e f")}),
        json!({"method": "GET", "url": format!("{base}/with"), "body": {"mode": "raw", "raw": "{\"a\":1}", "options": json}}),
        json!({"method": "POST", "url": format!("{base}/json"), "body": {"mode": "raw", "raw": "{\r\n  \"a\": 1\r\n}\n", "options": json}}),
        json!({"method": "POST", "url": format!("{base}/text"), "body": {"mode": "raw", "raw": "{\"a\":1}"}}),
        json!({"method": "POST", "url": format!("{base}/xml"),
            "body": {"mode": "raw", "raw": "<a>\r\n</a> ", "options": {"raw": {"language": "xml"}}}}),
        json!({"method": "PUT", "url": format!("{base}/form"), "body": {"mode": "urlencoded", "urlencoded": [
            {"key": "a b", "value": "c+d é*'()"}, {"key": "off", "value": "x", "disabled": true}, {"key": "e", "value": ""}]}}),
        json!({"method": "POST", "url": format!("{base}/parts"), "body": {"mode": "formdata", "formdata": [
            {"key": "a", "value": "b c", "type": "text"}]}}),
        json!({"method": "DELETE", "url": {"raw": format!("{base}/things/:id?x=1"), "host": [base], "path": ["things", ":id"],
            "query": [{"key": "x", "value": "1"}], "variable": [{"key": "id", "value": "7 8"}]},
            "header": [{"key": "X-A", "value": "1"}, {"key": "X-Off", "value": "1", "disabled": true}]}),
        json!({"method": "POST", "url": format!("{base}/own"), "header": [{"key": "Content-Type", "value": "application/vnd.a+json"}],
            "body": {"mode": "raw", "raw": "{\"a\": [1, 2]}", "options": json}}),
        json!({"method": "POST", "url": format!("{base}/graphql"), "body": {"mode": "graphql",
            "graphql": {"query": "{ a(b: \"c\") }", "variables": "{\"x\": 1}"}}}),
        json!({"method": "POST", "url": format!("{base}/empty")}),
        json!({"method": "GET", "url": format!("{base}/auth"), "auth": {"type": "basic", "basic": [
            {"key": "username", "value": "mia"}, {"key": "password", "value": "pw"}]}}),
    ]
}

#[test]
#[ignore = "newman is installed by ./test full"]
fn what_is_imported_sends_what_newman_sends() {
    let oracles = std::env::var(ORACLES).expect("./test full sets it");
    let echo = Echo::start();
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let named = |(at, request): (usize, Value)| json!({"name": format!("request {at}"), "request": request});
    let mut items: Vec<Value> = requests("{{base}}").into_iter().enumerate().map(named).collect();
    items.push(json!({"name": "kept", "protocolProfileBehavior": {"disableBodyPruning": true}, "request": {
        "method": "GET", "url": "{{base}}/kept", "body": {"mode": "raw", "raw": "words"}}}));
    let collection = json!({
        "info": {"name": "c", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "item": items, "variable": [{"key": "base", "value": echo.origin}]});
    std::fs::write(folder.join("c.json"), collection.to_string()).expect("there is room");
    let mut newman = Command::new(Path::new(&oracles).join("node_modules/.bin/newman"));
    newman.args(["run", "c.json", "--reporters", "json"]).current_dir(folder);
    let ended = Running::start(newman).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = compared(echo.take(), OWN);
    assert_eq!(expected.len(), collection["item"].as_array().map_or(0, Vec::len), "{expected:?}");
    let imported = walk::import(folder, &["postman", "c.json"]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let sent = walk::once(folder, &echo, &[("password", "pw")], OWN);
    assert_same(&sent, &expected);
}
