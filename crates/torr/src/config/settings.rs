//! Every setting of `torr serve`: its name, what it takes, what it means.

#[cfg(test)]
mod tests;

use super::serve_config::ServeConfig;
use super::values::{address, file, files, limit, line, listed, log, name, shown, shown_or_0, time, time_or_0, within};
use torr_serve::LogTarget;

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// Its name in a file.
    pub key: &'static str,
    /// The placeholder of its value in the help.
    pub value: &'static str,
    /// Its meaning, for the help.
    pub meaning: &'static str,
    /// The form of a value, for messages.
    pub must_be: &'static str,
    /// What the default depends on, if it is not a fixed value.
    pub default: Option<&'static str>,
    /// The TOML type of its value.
    pub kind: Kind,
    /// Sets a value; `None` if the text is not valid.
    pub take: fn(&mut ServeConfig, &str) -> Option<()>,
    /// Returns the value as text.
    pub text: fn(&ServeConfig) -> String,
}

/// The TOML type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// Text that may have a password, so that no message shows it.
    Secret,
    Number,
    /// Text, or a number of seconds.
    Duration,
    Boolean,
}

impl Setting {
    /// Its flag without the dashes.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key.to_ascii_uppercase())
    }

    /// The value as it stands in a file.
    pub fn toml(&self, chosen: &ServeConfig) -> String {
        self.as_toml(&(self.text)(chosen))
    }

    /// A value's text as it stands in a file.
    pub fn as_toml(&self, text: &str) -> String {
        match self.kind {
            Kind::Text | Kind::Secret | Kind::Duration => toml::Value::String(text.to_owned()).to_string(),
            Kind::Number | Kind::Boolean => text.to_owned(),
        }
    }
}

/// How the variables of all settings begin.
pub const PREFIX: &str = "TORR_SERVE_";
/// The variable that names a file.
pub const FILE_VARIABLE: &str = "TORR_SERVE_CONFIG";

const LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];
const FILES: &str = "one or more files, with commas between them";
const DURATION: &str = "a duration above 0, such as 10s, 500ms or 2m";
const UP_TO_A_DAY: &str = "a duration above 0 of a day at most, such as 10s, 500ms or 2m";
const FROM_0: &str = "a whole number from 0 up";
const FROM_1: &str = "a whole number from 1 up";
/// The largest whole number that every reader of TOML understands.
const MOST: u64 = i64::MAX as u64;

/// What settings that are on or off have in common.
const SWITCH: Setting = Setting {
    key: "",
    value: "true|false",
    meaning: "",
    must_be: "true or false",
    default: None,
    kind: Kind::Boolean,
    take: |_, _| None,
    text: |_| String::new(),
};

/// All of them, in the order in which they are shown.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "listen",
        value: "ADDR",
        meaning: "Listen on this address and port; port 0 takes a free port",
        must_be: "an address to listen on, such as 127.0.0.1:8080",
        default: None,
        kind: Kind::Text,
        take: |to, text| address(text).map(|address| to.listen = address),
        text: |from| from.listen.clone(),
    },
    Setting {
        key: "processes",
        value: "N",
        meaning: "Start this many worker processes, each with --workers threads; 0 runs the threads in this process",
        must_be: "a whole number from 0 to 1024",
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 0..=1024).map(|n| to.settings.processes = n),
        text: |from| from.settings.processes.to_string(),
    },
    Setting {
        key: "workers",
        value: "N",
        meaning: "Use this many worker threads",
        must_be: "a whole number from 1 to 4096",
        default: Some("one per CPU"),
        kind: Kind::Number,
        take: |to, text| within(text, 1..=4096).map(|n| to.settings.workers = n),
        text: |from| from.settings.workers.to_string(),
    },
    Setting {
        key: "max_head",
        value: "BYTES",
        meaning: "Limit a request's header section, and its request line, to this many bytes each",
        must_be: "a whole number from 256 up",
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 256..=MOST as usize).map(|n| to.settings.max_head = n),
        text: |from| from.settings.max_head.to_string(),
    },
    Setting {
        key: "max_headers",
        value: "N",
        meaning: "Limit a request to this many header fields, up to 256",
        must_be: "a whole number from 1 to 256",
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 1..=256).map(|n| to.settings.max_headers = n),
        text: |from| from.settings.max_headers.to_string(),
    },
    Setting {
        key: "max_body",
        value: "BYTES",
        meaning: "Limit a request's body to this many bytes",
        must_be: FROM_0,
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 0..=MOST).map(|n| to.settings.max_body = n),
        text: |from| from.settings.max_body.to_string(),
    },
    Setting {
        key: "max_streamed_body",
        value: "BYTES",
        meaning: "Limit a request's body that a router streams to this many bytes; 0 for no limit",
        must_be: FROM_0,
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 0..=MOST).map(|n| to.settings.max_streamed_body = n),
        text: |from| from.settings.max_streamed_body.to_string(),
    },
    Setting {
        key: "min_body_rate",
        value: "BYTES",
        meaning: "Close a connection whose streamed request body arrives at fewer bytes per second than this, once \
                  body_timeout has passed; 0 for no limit",
        must_be: FROM_0,
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 0..=MOST).map(|n| to.settings.min_body_rate = n),
        text: |from| from.settings.min_body_rate.to_string(),
    },
    Setting {
        key: "max_connections",
        value: "N",
        meaning: "Allow this many connections at a time; reject further ones with 503",
        must_be: FROM_1,
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 1..=MOST as usize).map(|n| to.settings.max_connections = n),
        text: |from| from.settings.max_connections.to_string(),
    },
    Setting {
        key: "max_connections_per_address",
        value: "N",
        meaning: "Allow this many connections at a time from one address to each process; reject further ones with 503; 0 for no limit",
        must_be: FROM_0,
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 0..=MOST as usize).map(|n| to.settings.max_connections_per_address = n),
        text: |from| from.settings.max_connections_per_address.to_string(),
    },
    Setting {
        key: "requests_per_connection",
        value: "N",
        meaning: "Close a connection after this many requests; 0 for no limit",
        must_be: FROM_0,
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 0..=MOST).map(|n| to.settings.requests_per_connection = n),
        text: |from| from.settings.requests_per_connection.to_string(),
    },
    Setting {
        key: "max_connection_age",
        value: "TIME",
        meaning: "Close a connection that has reached this age after its current requests; 0 for no limit",
        must_be: "a duration such as 10s, 500ms or 2m, or 0",
        default: None,
        kind: Kind::Duration,
        take: |to, text| time_or_0(text).map(|age| to.settings.max_connection_age = age),
        text: |from| shown_or_0(from.settings.max_connection_age),
    },
    Setting {
        key: "idle_timeout",
        value: "TIME",
        meaning: "Close a connection after this long without a request",
        must_be: DURATION,
        default: None,
        kind: Kind::Duration,
        take: |to, text| time(text).map(|time| to.settings.idle_timeout = time),
        text: |from| shown(from.settings.idle_timeout),
    },
    Setting {
        key: "head_timeout",
        value: "TIME",
        meaning: "Fail a request whose header section takes longer than this from its first byte",
        must_be: DURATION,
        default: None,
        kind: Kind::Duration,
        take: |to, text| time(text).map(|time| to.settings.head_timeout = time),
        text: |from| shown(from.settings.head_timeout),
    },
    Setting {
        key: "body_timeout",
        value: "TIME",
        meaning: "Fail a request whose body takes longer than this",
        must_be: DURATION,
        default: None,
        kind: Kind::Duration,
        take: |to, text| time(text).map(|time| to.settings.body_timeout = time),
        text: |from| shown(from.settings.body_timeout),
    },
    Setting {
        key: "write_timeout",
        value: "TIME",
        meaning: "Close a connection whose client reads nothing of a pending response for this long",
        must_be: DURATION,
        default: None,
        kind: Kind::Duration,
        take: |to, text| time(text).map(|time| to.settings.write_timeout = time),
        text: |from| shown(from.settings.write_timeout),
    },
    Setting {
        key: "stop_timeout",
        value: "TIME",
        meaning: "Wait this long for requests in flight in a graceful stop",
        must_be: DURATION,
        default: None,
        kind: Kind::Duration,
        take: |to, text| time(text).map(|time| to.settings.stop_timeout = time),
        text: |from| shown(from.settings.stop_timeout),
    },
    Setting {
        key: "stream_stop_timeout",
        value: "TIME",
        meaning: "Wait this long for responses of unknown length, such as event streams, in a graceful stop",
        must_be: DURATION,
        default: None,
        kind: Kind::Duration,
        take: |to, text| time(text).map(|time| to.settings.stream_stop_timeout = time),
        text: |from| shown(from.settings.stream_stop_timeout),
    },
    Setting {
        key: "start_timeout",
        value: "TIME",
        meaning: "Wait this long for a worker process to become ready in a reload or restart",
        must_be: DURATION,
        default: None,
        kind: Kind::Duration,
        take: |to, text| time(text).map(|time| to.settings.start_timeout = time),
        text: |from| shown(from.settings.start_timeout),
    },
    Setting {
        key: "pid_file",
        value: "FILE",
        meaning: "Write the id of the process that takes signals to this file, and remove the file at the end",
        must_be: "the name of a file, or nothing",
        default: Some("none"),
        kind: Kind::Text,
        take: |to, text| file(text).map(|file| to.settings.pid_file = file),
        text: |from| from.settings.pid_file.as_ref().map_or(String::new(), |file| file.display().to_string()),
    },
    Setting {
        key: "backlog",
        value: "N",
        meaning: "Set the length of each worker's accept queue, which net.core.somaxconn also limits",
        must_be: "a whole number from 1 to 2147483647",
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 1..=i32::MAX).map(|n| to.settings.backlog = n),
        text: |from| from.settings.backlog.to_string(),
    },
    Setting {
        key: "defer_accept",
        meaning: "Accept a connection only after its first bytes have arrived, or after about a second",
        take: |to, text| text.parse().ok().map(|yes| to.settings.defer_accept = yes),
        text: |from| from.settings.defer_accept.to_string(),
        ..SWITCH
    },
    Setting {
        key: "shared_listener",
        meaning: "Let all workers accept from one listener, so that no connection waits for a blocked worker",
        take: |to, text| text.parse().ok().map(|yes| to.settings.shared_listener = yes),
        text: |from| from.settings.shared_listener.to_string(),
        ..SWITCH
    },
    Setting {
        key: "blocking_threads",
        value: "N",
        meaning: "Use this many threads per process for blocking handlers",
        must_be: "a whole number from 1 to 4096",
        default: Some("eight per CPU"),
        kind: Kind::Number,
        take: |to, text| within(text, 1..=4096).map(|n| to.settings.blocking_threads = n),
        text: |from| from.settings.blocking_threads.to_string(),
    },
    Setting {
        key: "blocking_queue",
        value: "N",
        meaning: "Let this many requests of each process wait for a blocking thread; reject further ones with 503",
        must_be: FROM_0,
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 0..=MOST as usize).map(|n| to.settings.blocking_queue = n),
        text: |from| from.settings.blocking_queue.to_string(),
    },
    Setting {
        key: "http2",
        meaning: "Support HTTP/2 besides HTTP/1.1",
        take: |to, text| text.parse().ok().map(|yes| to.settings.http2 = yes),
        text: |from| from.settings.http2.to_string(),
        ..SWITCH
    },
    Setting {
        key: "http3",
        meaning: "Support HTTP/3 on the UDP port of the same number, besides the others; needs tls_cert and tls_key",
        take: |to, text| text.parse().ok().map(|yes| to.settings.http3 = yes),
        text: |from| from.settings.http3.to_string(),
        ..SWITCH
    },
    Setting {
        key: "http3_early_data",
        meaning: "Take safe requests with the first datagrams of a client that resumes a session (0-RTT); needs http3",
        take: |to, text| text.parse().ok().map(|yes| to.settings.http3_early_data = yes),
        text: |from| from.settings.http3_early_data.to_string(),
        ..SWITCH
    },
    Setting {
        key: "tls_cert",
        value: "FILES",
        meaning: "Serve TLS with this certificate chain (PEM); separate several by commas, and the client's server name (SNI) selects one",
        must_be: FILES,
        default: Some("none"),
        kind: Kind::Text,
        take: |to, text| files(text).map(|files| to.tls_cert = files),
        text: |from| listed(&from.tls_cert),
    },
    Setting {
        key: "tls_key",
        value: "FILES",
        meaning: "Read the key of each certificate (PEM), in the same order",
        must_be: FILES,
        default: Some("none"),
        kind: Kind::Text,
        take: |to, text| files(text).map(|files| to.tls_key = files),
        text: |from| listed(&from.tls_key),
    },
    Setting {
        key: "tls_client_ca",
        value: "FILE",
        meaning: "Accept only clients with a certificate signed by one of these (PEM)",
        must_be: "the name of a file, or nothing",
        default: Some("none"),
        kind: Kind::Text,
        take: |to, text| file(text).map(|file| to.tls_client_ca = file),
        text: |from| listed(from.tls_client_ca.as_slice()),
    },
    Setting {
        key: "log_level",
        value: "LEVEL",
        meaning: "Log messages from this level up on standard error: off, error, warn, info, debug or trace",
        must_be: "off, error, warn, info, debug or trace",
        default: None,
        kind: Kind::Text,
        take: |to, text| LEVELS.contains(&text).then(|| to.log_level = text.to_owned()),
        text: |from| from.log_level.clone(),
    },
    Setting {
        key: "server_name",
        value: "TEXT",
        meaning: "Send this Server field in responses",
        must_be: "1 to 100 printable ASCII characters, with no space at either end",
        default: None,
        kind: Kind::Text,
        take: |to, text| name(text).map(|name| to.settings.server_name = name),
        text: |from| from.settings.server_name.to_owned(),
    },
    Setting {
        key: "trusted_proxies",
        value: "LIST",
        meaning: "Trust the forwarded fields of these proxies",
        must_be: "addresses and networks with commas between them, such as 10.0.0.0/8, 192.0.2.7; or loopback, private, unix",
        default: Some("none"),
        kind: Kind::Text,
        take: |to, text| text.parse().ok().map(|it| to.settings.trusted_proxies = it),
        text: |from| from.settings.trusted_proxies.to_string(),
    },
    Setting {
        key: "forwarded_field",
        value: "FIELD",
        meaning: "Read the client's address from this field of trusted proxies",
        must_be: "x-forwarded-for, forwarded or x-real-ip",
        default: None,
        kind: Kind::Text,
        take: |to, text| text.parse().ok().map(|it| to.settings.forwarded_field = it),
        text: |from| from.settings.forwarded_field.to_string(),
    },
    Setting {
        key: "proxy_protocol",
        value: "off|required",
        meaning: "Require a header of the PROXY protocol at the start of each connection, and accept only trusted proxies",
        must_be: "off or required",
        default: None,
        kind: Kind::Text,
        take: |to, text| text.parse().ok().map(|it| to.settings.proxy_protocol = it),
        text: |from| from.settings.proxy_protocol.to_string(),
    },
    Setting {
        key: "request_ids",
        meaning: "Give each request an id, or keep the X-Request-Id of a trusted proxy",
        take: |to, text| text.parse().ok().map(|yes| to.settings.request_ids = yes),
        text: |from| from.settings.request_ids.to_string(),
        ..SWITCH
    },
    Setting {
        key: "access_log",
        value: "FILE",
        meaning: "Write an access log to this file, one line per request; - for standard output",
        must_be: "the name of a file, - for standard output, or nothing",
        default: Some("none"),
        kind: Kind::Text,
        take: |to, text| log(text).map(|target| to.settings.access_log = target),
        text: |from| from.settings.access_log.as_ref().map_or_else(String::new, LogTarget::to_string),
    },
    Setting {
        key: "access_log_format",
        value: "FORMAT",
        meaning: "Write the access log in this format",
        must_be: "common, combined or json",
        default: None,
        kind: Kind::Text,
        take: |to, text| text.parse().ok().map(|it| to.settings.access_log_format = it),
        text: |from| from.settings.access_log_format.to_string(),
    },
    Setting {
        key: "root",
        value: "FOLDER",
        meaning: "Serve the files below this folder, instead of the demo application",
        must_be: "the name of a folder, or nothing",
        default: Some("none"),
        kind: Kind::Text,
        take: |to, text| file(text).map(|folder| to.root = folder),
        text: |from| from.root.as_deref().map_or_else(String::new, |root| root.to_string_lossy().into_owned()),
    },
    Setting {
        key: "router",
        meaning: "Serve /, /plaintext and /json of the demo application from an axum router instead of controllers, and a WebSocket at /ws/echo",
        take: |to, text| text.parse().ok().map(|yes| to.router = yes),
        text: |from| from.router.to_string(),
        ..SWITCH
    },
    Setting {
        key: "database",
        value: "URL",
        meaning: "Use this database for the demo application: sqlite::memory:, sqlite:FILE, mysql://USER:PASSWORD@HOST/NAME or postgres://USER:PASSWORD@HOST/NAME; Torr creates and fills missing tables",
        must_be: "the URL of a database, or nothing",
        default: Some("SQLite in memory"),
        kind: Kind::Secret,
        take: |to, text| line(text).map(|url| to.database = url),
        text: |from| from.database.clone().unwrap_or_default(),
    },
    Setting {
        key: "db_mode",
        value: "async|blocking",
        meaning: "Let a worker process other requests while it waits for a database server (async), or block it (blocking)",
        must_be: "async or blocking",
        default: None,
        kind: Kind::Text,
        take: |to, text| text.parse().ok().map(|mode| to.db_mode = mode),
        text: |from| from.db_mode.to_string(),
    },
    Setting {
        key: "db_pipelined",
        meaning: "Send the statements of each worker over one connection without waiting for earlier results (PostgreSQL pipelining)",
        take: |to, text| text.parse().ok().map(|yes| to.db_options.pipelined = yes),
        text: |from| from.db_options.pipelined.to_string(),
        ..SWITCH
    },
    Setting {
        key: "db_pool_size",
        value: "N",
        meaning: "Open at most this many database connections per worker, and as many again for the ORM's model",
        must_be: "a whole number from 1 to 10000",
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 1..=10_000).map(|n| to.db_options.pool_size = n),
        text: |from| from.db_options.pool_size.to_string(),
    },
    Setting {
        key: "db_acquire_timeout",
        value: "TIME",
        meaning: "Fail a request that waits longer than this for a database connection",
        must_be: UP_TO_A_DAY,
        default: None,
        kind: Kind::Duration,
        take: |to, text| limit(text).map(|time| to.db_options.acquire_timeout = time),
        text: |from| shown(from.db_options.acquire_timeout),
    },
    Setting {
        key: "db_connect_timeout",
        value: "TIME",
        meaning: "Fail a database connection that takes longer than this to open",
        must_be: UP_TO_A_DAY,
        default: None,
        kind: Kind::Duration,
        take: |to, text| limit(text).map(|time| to.db_options.connect_timeout = time),
        text: |from| shown(from.db_options.connect_timeout),
    },
    Setting {
        key: "db_statement_timeout",
        value: "TIME",
        meaning: "Cancel a statement that takes longer than this",
        must_be: UP_TO_A_DAY,
        default: None,
        kind: Kind::Duration,
        take: |to, text| limit(text).map(|time| to.db_options.statement_timeout = time),
        text: |from| shown(from.db_options.statement_timeout),
    },
    Setting {
        key: "db_rows",
        value: "N",
        meaning: "Fill the table item with this many rows",
        must_be: "a whole number from 1 to 100000000",
        default: None,
        kind: Kind::Number,
        take: |to, text| within(text, 1..=100_000_000).map(|n| to.db_options.rows = n),
        text: |from| from.db_options.rows.to_string(),
    },
    Setting {
        key: "cache",
        value: "URL",
        meaning: "Use this cache for cached queries and sessions of the demo application: memory, or redis://:PASSWORD@HOST/NUMBER",
        must_be: "memory, or the URL of Redis",
        default: None,
        kind: Kind::Secret,
        take: |to, text| line(text)?.map(|url| to.cache = url),
        text: |from| from.cache.clone(),
    },
    Setting {
        key: "cache_ttl",
        value: "TIME",
        meaning: "Keep rows in the cache for this long",
        must_be: UP_TO_A_DAY,
        default: None,
        kind: Kind::Duration,
        take: |to, text| limit(text).map(|time| to.cache_options.worlds_ttl = time),
        text: |from| shown(from.cache_options.worlds_ttl),
    },
    Setting {
        key: "cache_timeout",
        value: "TIME",
        meaning: "Fail a cache request whose response from Redis takes longer than this",
        must_be: UP_TO_A_DAY,
        default: None,
        kind: Kind::Duration,
        take: |to, text| limit(text).map(|time| to.cache_options.response_timeout = time),
        text: |from| shown(from.cache_options.response_timeout),
    },
];
