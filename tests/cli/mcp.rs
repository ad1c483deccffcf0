//! `torr mcp`, as a client by the protocol's official library sees it.

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::runtime::{Builder, Runtime};
use torr_test_support::program::{torr, torr_path};
use torr_test_support::servers::Serve;
use torr_test_support::wait_until;

/// A client of a running server.
struct Client {
    // The order of the fields is that in which they end.
    service: RunningService<RoleClient, ()>,
    child: Child,
    runtime: Runtime,
}

impl Client {
    fn start(args: &[&str]) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        let (service, child) = runtime.block_on(async {
            let mut command = Command::new(torr_path());
            command.arg("mcp").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
            let mut child = command.spawn().expect("the program starts");
            let (input, output) = (child.stdin.take(), child.stdout.take());
            let transport = (output.expect("it is piped"), input.expect("it is piped"));
            (().serve(transport).await.expect("the server speaks the protocol"), child)
        });
        Self { service, child, runtime }
    }

    fn call(&self, tool: &'static str, arguments: Value) -> Result<CallToolResult, String> {
        let arguments = arguments.as_object().cloned().expect("it is an object");
        let call = self.service.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments));
        self.runtime.block_on(call).map_err(|error| error.to_string())
    }

    /// The text of a call that fails.
    fn refusal(&self, tool: &'static str, arguments: Value) -> String {
        let called = self.call(tool, arguments).expect("the tool is known");
        assert_eq!(called.is_error, Some(true), "{called:?}");
        text(&called)
    }
}

fn text(called: &CallToolResult) -> String {
    called.content.iter().filter_map(|content| content.as_text()).map(|text| text.text.as_str()).collect()
}

#[test]
fn tools_are_listed_with_what_they_take() {
    let client = Client::start(&["--longest", "30s", "--allow", "shop.test:8080"]);
    let about = client.service.peer_info().expect("the server has introduced itself");
    let instructions = about.instructions.as_deref().unwrap_or_default();
    assert!(
        instructions.contains("loopback, shop.test:8080") && instructions.contains("at most 30 s"),
        "{instructions}"
    );
    let tools = client.runtime.block_on(client.service.list_all_tools()).expect("tools are listed");
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["check", "once", "run", "doctor", "limit", "compare"]);
    for tool in &tools {
        let schema = Value::Object((*tool.input_schema).clone());
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        let required = schema["required"].as_array().expect("it is a list");
        assert!(
            required.iter().all(|name| schema["properties"][name.as_str().expect("a name")].is_object()),
            "{schema}"
        );
        let sends = tool.annotations.as_ref().and_then(|hints| hints.destructive_hint);
        assert_eq!(sends, Some(tool.name != "check"), "{}", tool.name);
    }
}

#[test]
fn a_service_is_looked_at_loaded_and_diagnosed() {
    let serve = Serve::start(&["--workers", "1"]);
    let client = Client::start(&[]);
    let once =
        client.call("once", json!({"url": serve.url("/"), "headers": ["X-Api-Key: s3cr3t-k3y"]})).expect("it is known");
    let shown = text(&once);
    assert!(
        shown.contains("< HTTP/1.1 200\n") && shown.contains("Hello, world!") && !shown.contains("s3cr3t"),
        "{shown}"
    );
    let run = json!({"url": serve.url("/"), "requests": 200, "connections": 4, "fail_if": "p50<0.001ms"});
    let run = client.call("run", run).expect("it is known");
    let result = run.structured_content.as_ref().expect("a run has a result");
    assert_eq!((&result["requests"], run.is_error), (&json!(200), Some(false)), "{result}");
    assert_eq!(
        (&result["left_out"], result.get("series")),
        (&json!(["latency_histogram", "series", "signals"]), None),
        "{result}"
    );
    assert!(text(&run).contains("200 x 200"), "{run:?}");
    let whole = json!({"url": serve.url("/"), "requests": 20, "connections": 2, "whole": true});
    let whole = client.call("run", whole).expect("it is known");
    assert!(whole.structured_content.as_ref().is_some_and(|result| result["series"].is_array()), "{whole:?}");
    let doctor = json!({"url": serve.url("/block/5"), "connections": 4, "budget_s": 5});
    let doctor = client.call("doctor", doctor).expect("it is known");
    let diagnosis = doctor.structured_content.as_ref().unwrap_or_else(|| panic!("it has a result: {doctor:?}"));
    assert!(diagnosis["verdict"]["factor"].is_string() && diagnosis.get("trail").is_none(), "{diagnosis}");
    let check = client.call("check", json!({"hurl": "GET http://a.test/\nHTTP 200\n"})).expect("it is known");
    assert!(text(&check).ends_with("no mistakes\n"), "{check:?}");
    assert!(client.refusal("check", json!({"hurl": "GET\n"})).contains("session.hurl:1"), "{check:?}");
}

#[test]
fn what_may_not_be_is_one_line() {
    let client = Client::start(&["--max-rate", "100"]);
    for (tool, arguments, line) in [
        (
            "run",
            json!({"url": "http://shop.test/"}),
            "shop.test:80 may not be loaded: the user can allow it with 'torr mcp --allow shop.test'",
        ),
        ("run", json!({"url": "http://127.0.0.1:1/", "rate": 101}), "'rate' is 101, but the user allows 100"),
        ("once", json!({"uri": "http://127.0.0.1:1/"}), "missing argument 'url'"),
    ] {
        assert_eq!(client.refusal(tool, arguments), line);
    }
    // What the command itself finds is its own line.
    let refused = client.refusal("run", json!({"url": "http://127.0.0.1:1/", "requests": 1}));
    assert!(refused.contains("connection refused"), "{refused}");
    let unknown = client.call("stop", json!({})).expect_err("there is no such tool");
    assert!(unknown.contains("unknown tool 'stop': use check, once, run, doctor, limit, compare"), "{unknown}");
    let ended = torr(&["mcp", "--allow", "http://a.test/"]);
    assert!(
        ended.code == Some(2) && ended.stderr.contains("expected HOST or HOST:PORT, found 'http://a.test/'"),
        "{ended:?}"
    );
}

#[test]
fn a_load_ends_with_the_assistant() {
    let serve = Serve::start(&["--workers", "1"]);
    let Client { service, mut child, runtime } = Client::start(&[]);
    let arguments = json!({"url": serve.url("/"), "duration_s": 50, "connections": 1});
    let arguments = arguments.as_object().cloned().expect("it is an object");
    let server = child.id().expect("it runs");
    runtime.block_on(async {
        let peer = service.peer().clone();
        let call =
            tokio::spawn(
                async move { peer.call_tool(CallToolRequestParams::new("run").with_arguments(arguments)).await },
            );
        // The load is there once the server has a child.
        while children(server).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let load = children(server);
        service.cancel().await.expect("the client leaves");
        let ended = child.wait().await.expect("the server ends");
        assert!(ended.success(), "{ended}");
        assert!(call.await.expect("the call is not lost").is_err());
        let is_there = |pid: &u32| std::path::Path::new(&format!("/proc/{pid}/exe")).read_link().is_ok();
        wait_until("the end of the load", || (!load.iter().any(is_there)).then_some(()));
    });
}

fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
