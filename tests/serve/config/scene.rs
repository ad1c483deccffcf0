//! A configuration file with variables, and what `--print-config` makes of both.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::servers::Serve;

/// A configuration file, and what stands in the environment.
pub struct Scene {
    pub folder: TempDir,
    pub variables: Vec<(String, String)>,
}

impl Scene {
    pub fn new(file: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        fs::write(folder.path().join("torr.toml"), file).expect("a file can be written");
        Self { folder, variables: Vec::new() }
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("torr.toml")
    }

    /// `torr serve` in the folder of the file, which it reads only with the flag.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = torr_command(&[&["serve"], args].concat());
        command.current_dir(self.folder.path()).envs(self.variables.iter().cloned());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        Running::start(self.command(args)).wait()
    }

    pub fn printed(&self, args: &[&str]) -> Vec<Line> {
        let ended = self.run(&[args, &["--print-config"]].concat());
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{ended:?}");
        ended.stdout.lines().map(Line::of).collect()
    }

    /// A server by the file.
    pub fn serve(&self, args: &[&str]) -> Serve {
        Serve::start_as(self.command(&[&["--config", "torr.toml", "--listen", "127.0.0.1:0"], args].concat()))
    }
}

/// A line of `--print-config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub key: String,
    pub value: String,
    pub source: String,
}

impl Line {
    pub fn of(text: &str) -> Self {
        let split = text.split_once(" = ").and_then(|(key, rest)| Some((key, rest.rsplit_once("  # ")?)));
        let (key, (value, source)) = split.unwrap_or_else(|| panic!("no setting: {text}"));
        Self { key: key.into(), value: value.into(), source: source.into() }
    }
}

pub fn line<'a>(lines: &'a [Line], key: &str) -> &'a Line {
    lines.iter().find(|line| line.key == key).unwrap_or_else(|| panic!("{key} is not in {lines:?}"))
}

/// Every setting, with a value that is not its default as it stands in a file.
pub const OTHER: &[(&str, &str)] = &[
    ("listen", "\"127.0.0.1:0\""),
    ("processes", "2"),
    ("workers", "3"),
    ("max_head", "1000"),
    ("max_headers", "20"),
    ("max_body", "0"),
    ("max_streamed_body", "1000000"),
    ("min_body_rate", "1000"),
    ("max_connections", "50"),
    ("max_connections_per_address", "10"),
    ("requests_per_connection", "1000"),
    ("max_connection_age", "\"10m\""),
    ("idle_timeout", "\"5s\""),
    ("head_timeout", "\"1m 30s\""),
    ("body_timeout", "\"250ms\""),
    ("write_timeout", "\"2h\""),
    ("stop_timeout", "\"1s 500ms\""),
    ("stream_stop_timeout", "\"2s\""),
    ("start_timeout", "\"10s\""),
    ("pid_file", "\"/run/torr.pid\""),
    ("backlog", "16"),
    ("defer_accept", "false"),
    ("shared_listener", "true"),
    ("blocking_threads", "7"),
    ("blocking_queue", "9"),
    ("http2", "false"),
    ("http3", "false"),
    ("http3_early_data", "false"),
    ("tls_cert", "\"one.pem,two.pem\""),
    ("tls_key", "\"one.key,two.key\""),
    ("tls_client_ca", "\"ca.pem\""),
    ("log_level", "\"debug\""),
    ("server_name", "\"The \\\"server\\\" = # 5\""),
    ("trusted_proxies", "\"10.0.0.0/8, ::1, loopback, private, unix\""),
    ("forwarded_field", "\"forwarded\""),
    ("proxy_protocol", "\"required\""),
    ("request_ids", "true"),
    ("access_log", "\"a # log\""),
    ("access_log_format", "\"json\""),
    ("root", "\"site\""),
    ("router", "true"),
    ("database", "\"sqlite:a # b.db\""),
    ("db_mode", "\"blocking\""),
    ("db_pipelined", "true"),
    ("db_pool_size", "3"),
    ("db_acquire_timeout", "\"1s\""),
    ("db_connect_timeout", "\"2s\""),
    ("db_statement_timeout", "\"3s\""),
    ("db_rows", "10"),
    ("cache", "\"redis://127.0.0.1:6379/3\""),
    ("cache_ttl", "\"2s\""),
    ("cache_timeout", "\"3s\""),
];

pub fn other_file() -> String {
    OTHER.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

/// A value as it stands in a variable or behind a flag.
pub fn bare(value: &str) -> String {
    value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value).replace("\\\"", "\"")
}

pub fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

pub fn variable(key: &str) -> String {
    format!("TORR_SERVE_{}", key.to_uppercase())
}

/// TOML has more than one way to write a text.
pub fn same_text(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.trim_matches(['"', '\'']).replace("\\\"", "\"");
    plain(a) == plain(b)
}

pub fn one_line(ended: &Ended, shown: &str) {
    assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{shown}: {ended:?}");
    assert!(ended.stderr.starts_with("torr: ") && ended.stderr.lines().count() == 1, "{shown}: {}", ended.stderr);
}
