//! `torr import openapi|postman|apipost|bruno|insomnia|http|jmeter|artillery`: files as those programs write them become hurl files that
//! check, and that walk through a server.

use std::path::Path;
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::servers::Serve;

/// A file as a program writes it.
fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../torr-import/samples").join(name).display().to_string()
}

fn run(folder: &Path, args: &[&str]) -> Ended {
    let mut command = torr_command(args);
    command.current_dir(folder);
    Running::start(command).wait()
}

/// Imports into a file, and checks the file with a value for each of these variables.
fn imported(folder: &Path, args: &[&str], file: &str, variables: &[&str]) -> Ended {
    let ended = run(folder, &[&["import"], args].concat());
    assert!(ended.code == Some(0) && ended.stdout.is_empty(), "{args:?}: {ended:?}");
    check(folder, file, variables);
    ended
}

fn check(folder: &Path, file: &str, variables: &[&str]) {
    let secrets = variables.iter().flat_map(|name| ["--secret".to_owned(), format!("{name}=x")]);
    let args: Vec<String> = ["check".to_owned(), file.to_owned()].into_iter().chain(secrets).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let checked = run(folder, &args);
    assert!(checked.code == Some(0) && checked.stdout.ends_with("no mistakes\n"), "{file}: {checked:?}");
}

#[test]
fn descriptions_collections_and_exports_become_hurl_files_that_check() {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let of = |kind: &str, name: &str, more: &[&str], variables: &[&str], line: &str| {
        let name = sample(name);
        let ended = imported(folder, &[&[kind, &name, "-o", "a.hurl"], more].concat(), "a.hurl", variables);
        assert!(ended.stderr.lines().any(|said| said == line), "{line}: {ended:?}");
        assert!(ended.stderr.ends_with("torr: next: torr once a.hurl\n"), "{ended:?}");
    };
    let secrets = ["bearer", "password", "password_2", "key", "basic_user", "basic_password"];
    of(
        "openapi",
        "orders-3.0.yaml",
        &[],
        &secrets,
        "torr: left out: callbacks, 1 time (requests that the service sends)",
    );
    of("openapi", "orders-3.0.yaml", &["--tag", "files", "--method", "post"], &["bearer"], "torr: 2 requests");
    of(
        "openapi",
        "orders-3.0.yaml",
        &["--path", "/login", "--server", "http://127.0.0.1:1"],
        &["password"],
        "torr: 1 request",
    );
    of(
        "openapi",
        "notes-3.1.json",
        &[],
        &["oauth"],
        "torr: left out: webhooks, 1 time (requests that the service sends)",
    );
    let environment = sample("test.postman_environment.json");
    let secrets = ["user", "password", "token_2", "x_api_key", "text", "aws_key"];
    let line = "torr: left out: setNextRequest, 1 time (the entries of a hurl file run in order)";
    of("postman", "shop-2.1.postman_collection.json", &["--environment", &environment], &secrets, line);
    let line = "torr: variable 'unknown' has no value: set it with --variable unknown=VALUE or HURL_VARIABLE_unknown";
    of("postman", "echo-2.0.postman_collection.json", &[], &["password", "unknown"], line);
    let line = "torr: left out: websocket, 1 time (not HTTP requests)";
    of("apipost", "store-7.apipost.json", &[], &["token", "secret"], line);
    of("apipost", "store-8.apipost.json", &[], &["cookie", "x_key"], "torr: 1 request");
    let line = "torr: captured: 'order' from the response of request 2";
    of("bruno", "bruno", &["--env", "local"], &["password"], line);
    of("bruno", "bruno/orders/Cancel.bru", &["--env", "local"], &["token", "order"], "torr: 1 request");
    let line = "torr: captured: 'log_in_token' from the response of request 1";
    of("insomnia", "shop-5.insomnia.yaml", &["--env", "Test"], &["user_password"], line);
    of(
        "insomnia",
        "shop-4.insomnia.json",
        &[],
        &[],
        "torr: left out: requests of WebSocket, 1 time (not HTTP requests)",
    );
    let line = "torr: captured: 'login_response_body___id' from the response of request 1";
    of("http", "shop.http", &["--env", "dev"], &[], line);
}

#[test]
fn each_thread_group_of_a_plan_becomes_a_file_or_one_is_chosen() {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let plan = sample("shop.jmx");
    let secrets = ["x_api_key", "password", "user"];
    let ended = imported(folder, &["jmeter", &plan, "-o", "shop.hurl"], "shop-buyers.hurl", &secrets);
    check(folder, "shop-watchers-all.hurl", &[]);
    let said: Vec<_> = ended.stderr.lines().filter(|line| line.contains("next: ")).collect();
    assert_eq!(said, ["torr: next: torr once shop-buyers.hurl", "torr: next: torr once shop-watchers-all.hurl"]);
    let one = run(folder, &["import", "jmeter", &plan, "--group", "Watchers / all"]);
    let expected =
        "# left out: com.example.CustomConfig 'odd' (no counterpart)\n# name: GET all\nGET https://{{host}}/all\n";
    assert!(one.code == Some(0) && one.stdout.starts_with(expected), "{one:?}");
    for (args, message) in [
        (
            &["import", "jmeter", plan.as_str()][..],
            "the plan has 'Buyers', 'Watchers / all'; each thread group becomes a file",
        ),
        (&["import", "jmeter", plan.as_str(), "--group", "x"], "unknown thread group 'x': use 'Buyers'"),
    ] {
        let ended = run(folder, args);
        assert!(ended.code == Some(2) && ended.stdout.is_empty() && ended.stderr.contains(message), "{ended:?}");
    }
}

#[test]
fn each_scenario_of_a_script_becomes_a_file_and_the_load_a_command() {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    std::fs::write(folder.join("users.csv"), "user,mail\nann,a@example.org\n").expect("there is room");
    std::fs::copy(sample("shop.artillery.yml"), folder.join("shop.yml")).expect("there is room");
    let script = "shop.yml";
    let ended = imported(folder, &["artillery", script, "-o", "shop.hurl"], "shop-browse.hurl", &[]);
    check(folder, "shop-buy-pay.hurl", &["token", "item", "user", "mail"]);
    check(folder, "shop-after.hurl", &["token"]);
    let load =
        ended.stderr.lines().last().and_then(|line| line.strip_prefix("torr: load: torr ")).expect("it is the last");
    let expected =
        "shop-browse.hurl=7 shop-buy-pay.hurl=1 --setup shop-before.hurl --teardown shop-after.hurl --stages ";
    assert!(load.starts_with(expected), "{load}");
    // The command is one that runs, with the value of the only variable that no file has.
    let words: Vec<String> = load.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    let printed: Vec<&str> = words.iter().map(String::as_str).chain(["--secret", "item=1", "--print-plan"]).collect();
    let plan = run(folder, &printed);
    assert!(
        plan.code == Some(0) && plan.stdout.contains("target = [\"shop-browse.hurl=7\", \"shop-buy-pay.hurl=1\"]"),
        "{plan:?}"
    );
    let one = run(folder, &["import", "artillery", script, "--environment", "staging", "--scenario", "Browse"]);
    assert!(one.code == Some(0) && one.stdout.contains("variable: target=\"https://staging.shop.example\""), "{one:?}");
    for (args, message) in [
        (
            &["import", "artillery", script][..],
            "the script has 'Browse', 'Buy / pay', 'before', 'after'; each becomes a file",
        ),
        (&["import", "artillery", script, "--scenario", "x"], "unknown scenario 'x': use 'Browse', 'Buy / pay'"),
        (&["import", "artillery", script, "--environment", "x"], "no such environment: 'x' (expected: staging)"),
    ] {
        let ended = run(folder, args);
        assert!(ended.code == Some(2) && ended.stdout.is_empty() && ended.stderr.contains(message), "{ended:?}");
    }
}

#[test]
fn what_was_imported_walks_through_a_server() {
    let server = Serve::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let origin = server.url("");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("there is room");
    write(
        "api.yaml",
        "openapi: 3.1.0\npaths:\n  /bytes/{n}:\n    get:\n      parameters: [{name: n, in: path, required: true, schema: {type: integer, minimum: 7}}]\n      \
         responses: {200: {description: ok}}\n  /nothing-here:\n    get:\n      responses: {404: {description: none}}\n",
    );
    let host = server.address.clone();
    let collection = serde_json::json!({
        "info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "item": [{
            "name": "json",
            "event": [{"listen": "test", "script": {"exec": [
                "pm.response.to.have.status(200);",
                "pm.environment.set('said', pm.response.json().message);",
                "pm.expect(pm.response.json().message).to.eql('Hello, World!');",
            ]}}],
            "request": {"method": "GET", "url": {"raw": "{{base}}/json"}},
        }, {"name": "again", "request": "{{base}}/bytes/3?said={{said}}"}],
        "variable": [{"key": "base", "value": origin}],
    });
    write("shop.json", &collection.to_string());
    let sampler = |path: &str, below: &str| {
        format!(
            "<HTTPSamplerProxy testname=\"x\"><stringProp name=\"HTTPSampler.path\">{path}</stringProp></HTTPSamplerProxy><hashTree>{below}</hashTree>"
        )
    };
    let extractor = "<JSONPostProcessor><stringProp name=\"JSONPostProcessor.referenceNames\">m</stringProp><stringProp name=\"JSONPostProcessor.jsonPathExprs\">$.message</stringProp></JSONPostProcessor><hashTree/>";
    write(
        "plan.jmx",
        &format!(
            "<jmeterTestPlan><hashTree><TestPlan/><hashTree><ThreadGroup testname=\"g\"/><hashTree>{}{}</hashTree></hashTree></hashTree></jmeterTestPlan>",
            sampler(&format!("http://{host}/json"), extractor),
            sampler(&format!("http://{host}/bytes/5?${{m}}"), "")
        ),
    );
    for args in [
        &["openapi", "api.yaml", "--server", &origin, "-o", "a.hurl"][..],
        &["postman", "shop.json", "-o", "a.hurl"],
        &["jmeter", "plan.jmx", "-o", "a.hurl"],
    ] {
        imported(folder, args, "a.hurl", &[]);
        let walked = run(folder, &["once", "a.hurl"]);
        assert_eq!(walked.code, Some(0), "{args:?}: {walked:?}");
    }
}

#[test]
fn what_cannot_be_imported_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("there is room");
    let laughs = "<!DOCTYPE a [<!ENTITY b \"ha\"><!ENTITY c \"&b;&b;&b;\">]><jmeterTestPlan>&c;</jmeterTestPlan>";
    std::fs::write(folder.path().join("laughs.jmx"), laughs).expect("there is room");
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    std::fs::write(folder.path().join("deep.json"), deep).expect("there is room");
    for (args, message) in [
        (&["import", "openapi", "/no/such/file"][..], "cannot read an OpenAPI description from '/no/such/file'"),
        (&["import", "jmeter", "laughs.jmx"], "not a JMeter plan: "),
        (&["import", "openapi", "deep.json"], "not a valid OpenAPI description: "),
        (&["import", "postman", "deep.json"], "not a valid Postman collection: "),
        (&["import", "apipost", "deep.json"], "not a valid Apipost export: "),
        (&["import", "bruno", "."], "'.' is not a Bruno collection: "),
        (&["import", "bruno", "deep.json"], "'deep.json' is not part of a Bruno collection: "),
        (&["import", "bruno", "/no/such/folder"], "cannot read '/no/such/folder': "),
        (&["import", "insomnia", "deep.json"], "not a valid Insomnia export: "),
        (&["import", "http", "deep.json", "--env", "dev"], "unknown environment 'dev': no file has one"),
        (&["import", "artillery", "deep.json"], "not a valid Artillery script: "),
        (&["import", "postman", "laughs.jmx"], "not a valid Postman collection: "),
    ] {
        let ended = run(folder.path(), args);
        let is_one_line = ended.stderr.lines().count() == 1 && ended.stderr.contains(message);
        assert!(ended.code == Some(2) && ended.stdout.is_empty() && is_one_line, "{args:?}: {ended:?}");
    }
}
