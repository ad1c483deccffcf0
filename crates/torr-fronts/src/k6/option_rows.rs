//! The table of options that flags and variables set.

/// How a value is written, and what it becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A whole number.
    Count,
    /// A time with its unit.
    Duration,
    /// A text as it stands.
    Text,
    /// Yes, or no with `=false`.
    Switch,
    /// Texts with commas between them.
    List,
    /// Stages such as `5s:10`, with commas between them.
    Stages,
    /// A name and a value, `name=value`; repeatable.
    Pairs,
    /// Names and values with commas between them.
    Fields,
    /// A value of JSON.
    Json,
    /// What to print of requests: nothing more, or `full`.
    Debug,
}

/// An option.
#[derive(Debug)]
pub struct OptionRow {
    /// The flag without its dashes; empty if there is none.
    pub flag: &'static str,
    /// The letter of the flag.
    pub letter: Option<char>,
    /// The variable.
    pub variable: &'static str,
    /// The name in scripts.
    pub key: &'static str,
    /// The form of values.
    pub form: Form,
}

const fn row(flag: &'static str, variable: &'static str, key: &'static str, form: Form) -> OptionRow {
    OptionRow { flag, letter: None, variable, key, form }
}

const fn lettered(letter: char, row: OptionRow) -> OptionRow {
    OptionRow { letter: Some(letter), ..row }
}

/// All options.
pub const OPTIONS: [OptionRow; 39] = [
    lettered('u', row("vus", "K6_VUS", "vus", Form::Count)),
    lettered('d', row("duration", "K6_DURATION", "duration", Form::Duration)),
    lettered('i', row("iterations", "K6_ITERATIONS", "iterations", Form::Count)),
    lettered('s', row("stage", "K6_STAGES", "stages", Form::Stages)),
    row("execution-segment", "K6_EXECUTION_SEGMENT", "executionSegment", Form::Text),
    row("execution-segment-sequence", "K6_EXECUTION_SEGMENT_SEQUENCE", "executionSegmentSequence", Form::Text),
    row("no-setup", "K6_NO_SETUP", "noSetup", Form::Switch),
    row("no-teardown", "K6_NO_TEARDOWN", "noTeardown", Form::Switch),
    row("", "K6_SETUP_TIMEOUT", "setupTimeout", Form::Duration),
    row("", "K6_TEARDOWN_TIMEOUT", "teardownTimeout", Form::Duration),
    row("max-redirects", "K6_MAX_REDIRECTS", "maxRedirects", Form::Count),
    row("batch", "K6_BATCH", "batch", Form::Count),
    row("batch-per-host", "K6_BATCH_PER_HOST", "batchPerHost", Form::Count),
    row("rps", "K6_RPS", "rps", Form::Count),
    row("user-agent", "K6_USER_AGENT", "userAgent", Form::Text),
    row("http-debug", "K6_HTTP_DEBUG", "httpDebug", Form::Debug),
    row("insecure-skip-tls-verify", "K6_INSECURE_SKIP_TLS_VERIFY", "insecureSkipTLSVerify", Form::Switch),
    row("no-connection-reuse", "K6_NO_CONNECTION_REUSE", "noConnectionReuse", Form::Switch),
    row("no-vu-connection-reuse", "K6_NO_VU_CONNECTION_REUSE", "noVUConnectionReuse", Form::Switch),
    row("min-iteration-duration", "K6_MIN_ITERATION_DURATION", "minIterationDuration", Form::Duration),
    lettered('w', row("throw", "K6_THROW", "throw", Form::Switch)),
    row("blacklist-ip", "K6_BLACKLIST_IPS", "blacklistIPs", Form::List),
    row("block-hostnames", "K6_BLOCK_HOSTNAMES", "blockHostnames", Form::List),
    row("summary-trend-stats", "K6_SUMMARY_TREND_STATS", "summaryTrendStats", Form::List),
    row("summary-time-unit", "K6_SUMMARY_TIME_UNIT", "summaryTimeUnit", Form::Text),
    row("system-tags", "K6_SYSTEM_TAGS", "systemTags", Form::List),
    row("tag", "K6_TAGS", "tags", Form::Pairs),
    row("discard-response-bodies", "K6_DISCARD_RESPONSE_BODIES", "discardResponseBodies", Form::Switch),
    row("local-ips", "K6_LOCAL_IPS", "localIPs", Form::Text),
    row("dns", "K6_DNS", "dns", Form::Fields),
    row("", "K6_HANDLE_SUMMARY_TIMEOUT", "handleSummaryTimeout", Form::Duration),
    row("", "K6_NO_COOKIES_RESET", "noCookiesReset", Form::Switch),
    row("", "K6_THRESHOLDS", "thresholds", Form::Json),
    row("", "K6_HOSTS", "hosts", Form::Json),
    row("", "K6_TLS_CIPHER_SUITES", "tlsCipherSuites", Form::List),
    row("", "K6_TLS_VERSION", "tlsVersion", Form::Json),
    row("", "K6_TLSAUTH", "tlsAuth", Form::Json),
    row("", "K6_METRIC_SAMPLES_BUFFER_SIZE", "metricSamplesBufferSize", Form::Count),
    lettered('p', row("paused", "K6_PAUSED", "paused", Form::Switch)),
];

/// Returns the option of a flag without its dashes.
pub fn of_flag(flag: &str) -> Option<&'static OptionRow> {
    OPTIONS.iter().find(|row| row.flag == flag && !flag.is_empty())
}

/// Returns the option of a flag's letter.
pub fn of_letter(letter: char) -> Option<&'static OptionRow> {
    OPTIONS.iter().find(|row| row.letter == Some(letter))
}
