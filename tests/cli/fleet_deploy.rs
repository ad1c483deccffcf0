//! What stands in `deploy/fleet`, as far as it can be tried without a cluster: its files are read, and its commands run.

use crate::fleet::Target;
use serde_json::Value;
use std::fs;
use std::path::Path;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Running, torr_command};
use torr_test_support::supervised::Supervised;

fn documents(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/fleet").join(name);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parts = text.split("\n---\n");
    parts.map(|part| serde_saphyr::from_str(part).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}

fn words(value: &Value) -> Vec<String> {
    let words = value.as_array().unwrap_or_else(|| panic!("{value} is no list"));
    words.iter().map(|word| word.as_str().expect("a word is text").to_owned()).collect()
}

/// Runs an agent and then a run by these words on a fleet of one, and returns what the target has counted.
fn tried(agent: &[String], run: &[String]) -> u64 {
    let (nats, mut target) =
        (NatsServer::start_with("authorization { user: torr, password: secret }"), Target::start());
    let url = target.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let here = |word: &String| match word.as_str() {
        "https://shop.test/" => url.clone(),
        "shop.test:443" => address.clone(),
        "2" | "3" => "1".to_owned(),
        // A minute of load shows no more than a second.
        "1m" => "1s".to_owned(),
        "3000" => "100".to_owned(),
        word => word.replace("$(JOB_COMPLETION_INDEX)", "0"),
    };
    let command = |words: &[String]| {
        let words: Vec<_> = words.iter().map(here).collect();
        let mut command = torr_command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.env("TORR_NATS", nats.url().replace("://", "://torr:secret@"));
        command
    };
    let mut waiting = command(agent);
    waiting.args(["--ceiling", "1000"]);
    let waiting = Supervised::spawn(waiting);
    waiting.says("is ready");
    let ended = Running::start(command(run)).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    target.responses()
}

#[test]
fn the_jobs_of_kubernetes_make_a_run() {
    let [agents, run] = &documents("kubernetes.yaml")[..] else { panic!("two Jobs") };
    for job in [agents, run] {
        assert_eq!((&job["apiVersion"], &job["kind"]), (&"batch/v1".into(), &"Job".into()));
        let pod = &job["spec"]["template"];
        assert_eq!(pod["metadata"]["labels"], job["metadata"]["labels"], "a selector finds both");
        let container = &pod["spec"]["containers"][0];
        assert_eq!(container["env"][0]["valueFrom"]["secretKeyRef"]["name"], "torr-nats");
        assert_eq!(container["securityContext"]["runAsNonRoot"], true);
    }
    let spec = &agents["spec"];
    assert_eq!((&spec["completionMode"], &spec["completions"]), (&"Indexed".into(), &spec["parallelism"]));
    let spread = &spec["template"]["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"];
    assert_eq!(*spread, agents["metadata"]["labels"]);
    let args = |job: &Value| words(&job["spec"]["template"]["spec"]["containers"][0]["args"]);
    let run = args(run);
    let agents_of_run = run.iter().skip_while(|word| *word != "--agents").nth(1).expect("it says how many");
    assert_eq!(*agents_of_run, spec["parallelism"].to_string());
    assert!((90..=100).contains(&tried(&args(agents), &run)));
}

#[test]
fn the_services_of_compose_make_a_run() {
    let compose = documents("compose.yaml").remove(0);
    let services = &compose["services"];
    // What a shell would fill in.
    let filled = |word: String| word.replace("${TORR_ALLOW:?say what may be loaded, as HOST:PORT}", "shop.test:443");
    let agent: Vec<_> = words(&services["agent"]["command"]).into_iter().map(filled).collect();
    let run = words(&services["run"]["entrypoint"]).into_iter().skip(1);
    let load = ["--", "https://shop.test/", "-r", "3000", "-d", "1m"].map(str::to_owned);
    assert!((90..=100).contains(&tried(&agent, &run.chain(load).collect::<Vec<_>>())));
    let nats = words(&services["nats"]["command"]);
    assert_eq!(nats[..3], ["--user", "torr", "--pass"], "as in TORR_NATS of the others");
    for service in ["agent", "run"] {
        assert_eq!(services[service]["environment"]["TORR_NATS"], "nats://torr:${NATS_PASSWORD}@nats:4222");
    }
}

#[test]
fn the_values_of_nats_name_the_secret_of_the_jobs() {
    let values = documents("nats-values.yaml").remove(0);
    let secret = &values["container"]["env"]["NATS_PASSWORD"]["valueFrom"]["secretKeyRef"];
    assert_eq!((&secret["name"], &secret["key"]), (&"torr-nats".into(), &"password".into()));
    assert_eq!(values["config"]["merge"]["authorization"]["password"], "<< $NATS_PASSWORD >>");
}
