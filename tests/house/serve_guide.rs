//! Checks the files in the server's documentation with the programs that read them: torr, nginx and systemd.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use toml::{Table, Value};
use torr_test_support::markdown::{Block, blocks};
use torr_test_support::program::{Running, run, torr};
use torr_test_support::servers::{Nginx, Serve, free_port};
use torr_test_support::wait_until;

const PAGES: &str = concat!(
    include_str!("../../docs/serve.md"),
    include_str!("../../docs/serve/configuration.md"),
    include_str!("../../docs/serve/edge.md"),
    include_str!("../../docs/serve/operations.md"),
);

fn of_kind(kind: &str) -> Vec<Block<'static>> {
    blocks(PAGES).into_iter().filter(|block| block.kind == kind).collect()
}

fn table(text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn configurations_are_taken() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let mut taken = 0;
    for block in of_kind("toml").iter().filter(|block| !block.text.starts_with("# Cargo.toml")) {
        let file = folder.path().join("torr.toml");
        fs::write(&file, &block.text).expect("a file can be written");
        let ended = torr(&["serve", "--print-config", "--config", file.to_str().expect("it is UTF-8")]);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{}", block.text);
        let printed = table(&ended.stdout);
        for key in table(&block.text).keys() {
            assert!(printed.contains_key(key), "{key}");
        }
        taken += 1;
    }
    assert!(taken >= 2, "{taken} configurations");
}

#[test]
fn the_project_uses_what_the_examples_are_built_with() {
    let all = of_kind("toml");
    let [manifest] = &all.iter().filter(|block| block.text.starts_with("# Cargo.toml")).collect::<Vec<_>>()[..] else {
        panic!("there is one Cargo.toml")
    };
    let here = table(include_str!("../../Cargo.toml"));
    for (name, wanted) in table(&manifest.text)["dependencies"].as_table().expect("it is a table") {
        let known = &here["workspace"]["dependencies"][name];
        let version = |value: &Value| {
            value.as_str().or_else(|| value.get("version")?.as_str()).map(str::to_owned).unwrap_or_default()
        };
        match wanted.get("path") {
            Some(path) => {
                let path = path.as_str().and_then(|path| path.strip_prefix("../torr/")).expect("it lies beside");
                let from_here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
                assert!(from_here.join("Cargo.toml").exists(), "{path}");
            }
            None => {
                let (wanted, known) = (version(wanted), version(known));
                assert!(
                    !wanted.is_empty() && format!("{known}.").starts_with(&format!("{wanted}.")),
                    "{name}: {known}"
                );
            }
        }
    }
}

/// What an example may name, and the dependency with the feature that it needs then.
const NEEDS: [(&str, &str, &str); 7] = [
    ("TlsSettings", "torr-serve", "tls-ring"),
    ("tokio::time", "tokio", "time"),
    ("tokio::task", "tokio", "rt"),
    ("tokio::spawn", "tokio", "rt"),
    ("Serialize)]", "serde", "derive"),
    ("Deserialize)]", "serde", "derive"),
    ("CompressionLayer", "tower-http", "compression-gzip"),
];

/// The examples are built with the features of this repository's tests, and the reader's project with those of the guide alone.
#[test]
fn the_project_has_what_the_examples_name() {
    let guide = blocks(include_str!("../../docs/serve.md"));
    let is_manifest = |block: &&Block<'_>| block.kind == "toml" && block.text.starts_with("# Cargo.toml");
    let manifest = table(&guide.iter().find(is_manifest).expect("there is a Cargo.toml").text);
    let dependencies = manifest["dependencies"].as_table().expect("it is a table");
    let has = |name: &str, feature: &str| {
        let features = dependencies.get(name).and_then(|wanted| wanted.get("features")?.as_array());
        features.is_some_and(|features| features.iter().any(|known| known.as_str() == Some(feature)))
    };
    let examples: BTreeSet<_> = guide.iter().filter(|block| block.kind == "rust").filter_map(|it| it.example).collect();
    let mut met = BTreeSet::new();
    for example in examples {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example).with_extension("rs");
        let code = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let names = code.lines().filter_map(|line| line.strip_prefix("use ")?.split([':', ';']).next());
        for name in names.filter(|name| *name != "std") {
            assert!(dependencies.contains_key(&name.replace('_', "-")), "{example} uses {name}");
        }
        for (word, name, feature) in NEEDS.iter().filter(|(word, ..)| code.contains(word)) {
            assert!(has(name, feature), "{example} has {word}, which needs {name} with {feature}");
            met.insert(*word);
        }
    }
    assert!(met.contains("TlsSettings") && met.len() >= 5, "{met:?}");
}

#[test]
fn nginx_takes_its_configurations_and_passes_requests_on() {
    let serve = Serve::start(&["--trusted-proxies", "loopback"]);
    let (mut whole, mut parts) = (0, 0);
    for block in of_kind("nginx") {
        if !block.text.contains("server {") {
            let _accepted = Nginx::start(&format!("location / {{ {} }}", block.text));
            parts += 1;
            continue;
        }
        let address = format!("127.0.0.1:{}", free_port());
        let here = block.text.replace("127.0.0.1:8080", &serve.address);
        let here = here.replace("listen 80;", &format!("listen {address};"));
        assert!(here.contains(&serve.address) && here.contains(&address), "{here}");
        let _nginx = Nginx::start_beside("", &here);
        wait_until("nginx to listen", || TcpStream::connect(&address).ok());
        let ask =
            |path: &str| run("curl", &["-sS", "-w", " %{http_code}\n", &format!("http://{address}{path}")]).stdout;
        let accepted = || {
            let metrics = serve.client().get("/metrics");
            let count = metrics.text().lines().find_map(|line| line.strip_prefix("torr_connections_accepted_total "));
            count.and_then(|count| count.parse::<u64>().ok()).expect("it is counted")
        };
        assert_eq!(ask("/plaintext"), "Hello, World! 200\n");
        let before = accepted();
        assert_eq!(ask("/plaintext?[1-10]"), "Hello, World! 200\n".repeat(10));
        assert_eq!(accepted(), before + 1, "nginx keeps its connection, beside the one that asks for this");
        assert!(ask("/metrics").ends_with(" 403\n"), "others do not see what the server tells of itself");
        whole += 1;
    }
    assert!(whole == 1 && parts >= 1, "{whole} whole configurations, {parts} parts");
}

#[test]
fn units_start_the_server_with_flags_that_it_has() {
    let help = torr(&["serve", "--help"]).stdout;
    let units = of_kind("ini");
    let started: Vec<_> = units.iter().flat_map(|unit| unit.text.lines()).collect();
    let started = started.iter().filter_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/torr serve "));
    let flags: Vec<_> = started.flat_map(str::split_whitespace).filter(|word| word.starts_with("--")).collect();
    assert!(!flags.is_empty(), "{units:?}");
    for flag in flags {
        assert!(help.contains(&format!(" {flag} <")), "{flag}: {help}");
    }
}

#[test]
fn what_is_copied_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shell = of_kind("sh");
    let copied = shell.iter().flat_map(|block| block.text.lines()).filter_map(|line| line.strip_prefix("cp ../torr/"));
    let copied: Vec<_> = copied.filter_map(|rest| rest.split_once(' ')).collect();
    assert!(!copied.is_empty(), "{shell:?}");
    for (from, to) in copied {
        assert!(root.join(from).exists() && to == "src/main.rs", "{from}");
    }
    for line in shell.iter().flat_map(|block| block.text.lines()) {
        let mut command = Command::new("sh");
        command.args(["-n", "-c", line]);
        assert_eq!(Running::start(command).wait().code, Some(0), "{line}");
    }
}
