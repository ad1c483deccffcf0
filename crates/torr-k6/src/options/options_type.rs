//! The options of one layer or of a run: a field for each, `None` where it is unset.

use super::duration;
use super::scenario::Scenario;
use super::stage::Stage;
use super::system_tags::SystemTags;
use super::threshold::ThresholdOption;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The statistics of a Trend that a summary shows unless a script says otherwise.
pub const DEFAULT_TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// The unit in which a summary shows times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
}

impl TimeUnit {
    /// Returns the unit's name as options have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Millis => "ms",
            Self::Micros => "us",
        }
    }
}

/// How names of servers are looked up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dns {
    /// How long an address is kept: a duration, `0` or `inf`.
    pub ttl: Option<String>,
    /// Which of several addresses is taken: `first`, `random` or `roundRobin`.
    pub select: Option<String>,
    /// Which family of addresses is taken: `preferIPv4`, `preferIPv6`, `onlyIPv4`, `onlyIPv6` or `any`.
    pub policy: Option<String>,
}

/// The versions of TLS that are accepted, by their names such as `tls1.2`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsVersions {
    /// The lowest version; `None` for the lowest that there is.
    pub min: Option<String>,
    /// The highest version; `None` for the highest that there is.
    pub max: Option<String>,
}

/// A certificate that clients show to servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsAuth {
    /// The names of the servers that see it; none for all servers. A name may begin with `*.`.
    pub domains: Vec<String>,
    /// The certificate chain in PEM.
    pub cert: String,
    /// The private key in PEM.
    pub key: String,
    /// The password of the private key.
    pub password: Option<String>,
}

macro_rules! options {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// Options of a test. An unset one is `None`.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Options {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl Options {
            /// Replaces the options that a higher layer has set. How a load is given is [`layered`](super::layered)'s to decide.
            pub(super) fn overlay(&mut self, higher: &Self) {
                $(if higher.$field.is_some() {
                    self.$field.clone_from(&higher.$field);
                })*
            }
        }
    };
}

options! {
    /// Whether the test waits for a command before it begins.
    paused: bool,
    /// The number of virtual users.
    vus: u64,
    /// How long the test takes.
    duration: Duration,
    /// The number of iterations of all virtual users together.
    iterations: u64,
    /// The stages of a number of virtual users.
    stages: Vec<Stage>,
    /// The scenarios, sorted by name.
    scenarios: Vec<Scenario>,
    /// Whether `setup` is left out.
    no_setup: bool,
    /// The longest time that `setup` may take.
    setup_timeout: Duration,
    /// Whether `teardown` is left out.
    no_teardown: bool,
    /// The longest time that `teardown` may take.
    teardown_timeout: Duration,
    /// The longest time that `handleSummary` may take.
    handle_summary_timeout: Duration,
    /// The limit of requests per second of the whole test; 0 for none.
    rps: u64,
    /// How names of servers are looked up.
    dns: Dns,
    /// The number of redirects that a request follows.
    max_redirects: u64,
    /// The value of `User-Agent`.
    user_agent: String,
    /// The number of requests of one batch in flight.
    batch: u64,
    /// The number of requests of one batch in flight to one server.
    batch_per_host: u64,
    /// What is shown of requests and responses: `headers` (any text but `full`) or `full`.
    http_debug: String,
    /// Whether any certificate of a server is accepted.
    insecure_skip_tls_verify: bool,
    /// The names of the cipher suites that are offered.
    tls_cipher_suites: Vec<String>,
    /// The versions of TLS that are accepted.
    tls_version: TlsVersions,
    /// The certificates that clients show to servers.
    tls_auth: Vec<TlsAuth>,
    /// Whether a failed request is an exception.
    throw: bool,
    /// The thresholds by metric with selector.
    thresholds: BTreeMap<String, Vec<ThresholdOption>>,
    /// The networks that no request goes to, as CIDR.
    blacklist_ips: Vec<String>,
    /// The patterns of names that no request goes to.
    block_hostnames: Vec<String>,
    /// The addresses of names.
    hosts: BTreeMap<String, String>,
    /// Whether each request gets a new connection.
    no_connection_reuse: bool,
    /// Whether connections are closed at the end of an iteration.
    no_vu_connection_reuse: bool,
    /// The shortest time from an iteration's begin to the next one's.
    min_iteration_duration: Duration,
    /// Settings of extensions, not interpreted.
    ext: Map<String, Value>,
    /// Settings of the cloud, not interpreted.
    cloud: Map<String, Value>,
    /// The statistics of a Trend that a summary shows.
    summary_trend_stats: Vec<String>,
    /// The unit in which a summary shows times.
    summary_time_unit: TimeUnit,
    /// The system tags that are on.
    system_tags: SystemTags,
    /// The tags of all samples.
    tags: BTreeMap<String, String>,
    /// Whether the cookie jar keeps its cookies over iterations.
    no_cookies_reset: bool,
    /// Whether contents of responses are dropped.
    discard_response_bodies: bool,
    /// The addresses that requests come from.
    local_ips: String,
    /// The file for what scripts write to the console.
    console_output: String,
    /// The number of samples that are buffered; has no effect.
    metric_samples_buffer_size: u64,
}

impl Options {
    /// Returns the system tags that are on.
    #[must_use]
    pub fn enabled_system_tags(&self) -> SystemTags {
        self.system_tags.unwrap_or_default()
    }

    /// Returns the statistics of a Trend that a summary shows.
    #[must_use]
    pub fn trend_stats(&self) -> Vec<String> {
        self.summary_trend_stats.clone().unwrap_or_else(|| DEFAULT_TREND_STATS.map(str::to_owned).to_vec())
    }

    /// Returns the options as `exec.test.options` shows them: all keys, `null` for unset ones, without the shortcuts of a load.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut all = self.fields(true);
        for shortcut in ["vus", "duration", "iterations", "stages"] {
            all.remove(shortcut);
        }
        Value::Object(all)
    }

    /// Returns the options that are set, by their keys: what the exported `options` of a script is overwritten with.
    #[must_use]
    pub fn set_fields(&self) -> Map<String, Value> {
        let mut set = self.fields(false);
        set.entry("scenarios").or_insert_with(|| json!({}));
        set
    }

    fn fields(&self, with_unset: bool) -> Map<String, Value> {
        let time = |duration: &Option<Duration>| duration.map(duration::format);
        let stages = self.stages.as_ref().map(|stages| stages.iter().copied().map(Stage::to_json).collect::<Vec<_>>());
        let scenarios = self.scenarios.as_ref().map(|scenarios| {
            let fields = scenarios.iter().map(|scenario| (scenario.name.clone(), json!(scenario.written.0)));
            fields.collect::<Map<_, _>>()
        });
        let dns = self.dns.as_ref();
        let dns = (dns.is_some() || with_unset).then(|| {
            let dns = dns.cloned().unwrap_or_default();
            json!({"ttl": dns.ttl, "select": dns.select, "policy": dns.policy})
        });
        let version = self.tls_version.as_ref().map(|versions| json!({"min": versions.min, "max": versions.max}));
        let auth = self.tls_auth.as_ref().map(|all| {
            let one = |auth: &TlsAuth| {
                json!({"domains": auth.domains, "cert": auth.cert, "key": auth.key, "password": auth.password})
            };
            all.iter().map(one).collect::<Vec<_>>()
        });
        let thresholds = self.thresholds.as_ref().map(|all| {
            let list = |list: &Vec<ThresholdOption>| list.iter().map(ThresholdOption::to_json).collect::<Vec<_>>();
            all.iter().map(|(metric, thresholds)| (metric.clone(), json!(list(thresholds)))).collect::<Map<_, _>>()
        });
        let values = [
            ("paused", json!(self.paused)),
            ("vus", json!(self.vus)),
            ("duration", json!(time(&self.duration))),
            ("iterations", json!(self.iterations)),
            ("stages", json!(stages)),
            ("scenarios", json!(scenarios)),
            ("executionSegment", Value::Null),
            ("executionSegmentSequence", Value::Null),
            ("noSetup", json!(self.no_setup)),
            ("setupTimeout", json!(time(&self.setup_timeout))),
            ("noTeardown", json!(self.no_teardown)),
            ("teardownTimeout", json!(time(&self.teardown_timeout))),
            ("handleSummaryTimeout", json!(time(&self.handle_summary_timeout))),
            ("rps", json!(self.rps)),
            ("dns", json!(dns)),
            ("maxRedirects", json!(self.max_redirects)),
            ("userAgent", json!(self.user_agent)),
            ("batch", json!(self.batch)),
            ("batchPerHost", json!(self.batch_per_host)),
            ("httpDebug", json!(self.http_debug)),
            ("insecureSkipTLSVerify", json!(self.insecure_skip_tls_verify)),
            ("tlsCipherSuites", json!(self.tls_cipher_suites)),
            ("tlsVersion", json!(version)),
            ("tlsAuth", json!(auth)),
            ("throw", json!(self.throw)),
            ("thresholds", json!(thresholds)),
            ("blacklistIPs", json!(self.blacklist_ips)),
            ("blockHostnames", json!(self.block_hostnames)),
            ("hosts", json!(self.hosts)),
            ("noConnectionReuse", json!(self.no_connection_reuse)),
            ("noVUConnectionReuse", json!(self.no_vu_connection_reuse)),
            ("minIterationDuration", json!(time(&self.min_iteration_duration))),
            ("ext", json!(self.ext)),
            ("cloud", json!(self.cloud)),
            ("summaryTrendStats", json!(self.summary_trend_stats)),
            ("summaryTimeUnit", json!(self.summary_time_unit.map(TimeUnit::name))),
            ("systemTags", json!(self.system_tags.map(SystemTags::names))),
            ("tags", json!(self.tags)),
            ("metricSamplesBufferSize", json!(self.metric_samples_buffer_size)),
            ("noCookiesReset", json!(self.no_cookies_reset)),
            ("discardResponseBodies", json!(self.discard_response_bodies)),
            ("consoleOutput", json!(self.console_output)),
            ("localIPs", json!(self.local_ips)),
        ];
        let kept = values.into_iter().filter(|(_, value)| with_unset || !value.is_null());
        kept.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
