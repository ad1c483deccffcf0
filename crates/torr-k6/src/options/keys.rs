//! The keys of options with what they mean: JSON values become fields.

use super::cipher_suites::CIPHER_SUITES;
use super::error::OptionError;
use super::options_type::{Dns, Options, TimeUnit, TlsAuth, TlsVersions};
use super::reader::{boolean, duration, integer, kind, object, string, string_map, strings};
use super::scenario_json::{MAX_VUS, scenarios};
use super::stage::Stage;
use super::system_tags::SystemTags;
use super::threshold::ThresholdOption;
use serde_json::Value;
use std::collections::BTreeMap;

/// The versions of TLS that options can name.
const TLS_VERSIONS: [&str; 4] = ["tls1.0", "tls1.1", "tls1.2", "tls1.3"];

/// Sets the option of a key; `false` if there is no such key.
pub(super) fn set(options: &mut Options, key: &str, value: &Value) -> Result<bool, OptionError> {
    match key {
        "paused" => options.paused = boolean(key, value)?,
        "vus" => options.vus = limited(key, integer(key, value)?, MAX_VUS)?,
        "duration" => options.duration = duration(key, value)?,
        "iterations" => options.iterations = integer(key, value)?,
        "stages" => options.stages = Stage::list(key, value, MAX_VUS)?,
        "scenarios" => options.scenarios = scenarios(value)?,
        "executionSegment" | "executionSegmentSequence" => whole_segment(key, value)?,
        "noSetup" => options.no_setup = boolean(key, value)?,
        "setupTimeout" => options.setup_timeout = duration(key, value)?,
        "noTeardown" => options.no_teardown = boolean(key, value)?,
        "teardownTimeout" => options.teardown_timeout = duration(key, value)?,
        "handleSummaryTimeout" => options.handle_summary_timeout = duration(key, value)?,
        "rps" => options.rps = integer(key, value)?,
        "dns" => options.dns = dns(value)?,
        "maxRedirects" => options.max_redirects = limited(key, integer(key, value)?, 1_000)?,
        "userAgent" => options.user_agent = user_agent(key, value)?,
        "batch" => options.batch = limited(key, integer(key, value)?, 10_000)?,
        "batchPerHost" => options.batch_per_host = limited(key, integer(key, value)?, 10_000)?,
        "httpDebug" => options.http_debug = string(key, value)?.filter(|text| !text.is_empty()),
        "insecureSkipTLSVerify" => options.insecure_skip_tls_verify = boolean(key, value)?,
        "tlsCipherSuites" => options.tls_cipher_suites = cipher_suites(key, value)?,
        "tlsVersion" => options.tls_version = tls_versions(value)?,
        "tlsAuth" => options.tls_auth = tls_auth(value)?,
        "throw" => options.throw = boolean(key, value)?,
        "thresholds" => options.thresholds = thresholds(value)?,
        "blacklistIPs" => options.blacklist_ips = strings(key, value)?,
        "blockHostnames" => options.block_hostnames = strings(key, value)?,
        "hosts" => options.hosts = string_map(key, value)?,
        "noConnectionReuse" => options.no_connection_reuse = boolean(key, value)?,
        "noVUConnectionReuse" => options.no_vu_connection_reuse = boolean(key, value)?,
        "minIterationDuration" => options.min_iteration_duration = duration(key, value)?,
        "ext" => options.ext = object(key, value)?.cloned(),
        "cloud" => options.cloud = object(key, value)?.cloned(),
        "summaryTrendStats" => options.summary_trend_stats = trend_stats(value)?,
        "summaryTimeUnit" => options.summary_time_unit = time_unit(value)?,
        "systemTags" => {
            let names = strings(key, value)?;
            let parse = |names: Vec<String>| SystemTags::parse(key, names.iter().map(String::as_str));
            options.system_tags = names.map(parse).transpose()?;
        }
        "tags" => options.tags = string_map(key, value)?,
        "metricSamplesBufferSize" => options.metric_samples_buffer_size = integer(key, value)?,
        "noCookiesReset" => options.no_cookies_reset = boolean(key, value)?,
        "discardResponseBodies" => options.discard_response_bodies = boolean(key, value)?,
        "consoleOutput" => options.console_output = string(key, value)?,
        "localIPs" => options.local_ips = string(key, value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn limited(key: &str, value: Option<u64>, most: u64) -> Result<Option<u64>, OptionError> {
    match value {
        Some(number) if number > most => Err(OptionError::new(key, format!("must be at most {most}, found {number}"))),
        value => Ok(value),
    }
}

/// Reads a value of `User-Agent`, which goes into each request.
fn user_agent(key: &str, value: &Value) -> Result<Option<String>, OptionError> {
    let agent = string(key, value)?;
    match agent.as_deref().is_some_and(|agent| agent.contains(|c: char| c.is_ascii_control())) {
        true => Err(OptionError::new(key, "must not have control characters such as a line break")),
        false => Ok(agent),
    }
}

/// A test that is split over several processes needs a process that adds up their metrics.
fn whole_segment(key: &str, value: &Value) -> Result<(), OptionError> {
    match value {
        Value::Null => Ok(()),
        Value::String(text) if ["", "0:1", "0,1", "100%"].contains(&text.as_str()) => Ok(()),
        _ => Err(OptionError::new(
            key,
            "a part of a test is not supported: use 'torr fleet' for several machines instead",
        )),
    }
}

fn one_of(path: &str, value: Option<String>, known: &[&str]) -> Result<Option<String>, OptionError> {
    match value.filter(|text| !text.is_empty()) {
        Some(text) if !known.contains(&text.as_str()) => {
            Err(OptionError::new(path, format!("expected one of {}, found '{text}'", known.join(", "))))
        }
        value => Ok(value),
    }
}

fn dns(value: &Value) -> Result<Option<Dns>, OptionError> {
    let Some(fields) = object("dns", value)? else { return Ok(None) };
    let mut dns = Dns::default();
    for (key, value) in fields {
        let path = format!("dns.{key}");
        match key.as_str() {
            "ttl" => {
                let shown = match value {
                    Value::Number(number) => Some(format!("{number}ms")),
                    value => string(&path, value)?.filter(|text| !text.is_empty()),
                };
                if let Some(ttl) = shown.as_deref().filter(|ttl| *ttl != "inf") {
                    super::duration::parse(ttl).map_err(|message| OptionError::new(&path, message))?;
                }
                dns.ttl = shown;
            }
            "select" => dns.select = one_of(&path, string(&path, value)?, &["first", "random", "roundRobin"])?,
            "policy" => {
                let known = ["preferIPv4", "preferIPv6", "onlyIPv4", "onlyIPv6", "any"];
                dns.policy = one_of(&path, string(&path, value)?, &known)?;
            }
            _ => return Err(OptionError::new(path, "unknown key: use ttl, select and policy")),
        }
    }
    Ok(Some(dns))
}

fn cipher_suites(key: &str, value: &Value) -> Result<Option<Vec<String>>, OptionError> {
    let names = strings(key, value)?;
    match names.iter().flatten().find(|name| !CIPHER_SUITES.contains(&name.as_str())) {
        Some(name) => Err(OptionError::new(key, format!("unknown cipher suite '{name}'"))),
        None => Ok(names),
    }
}

fn tls_versions(value: &Value) -> Result<Option<TlsVersions>, OptionError> {
    let version = |path: &str, value: &Value| one_of(path, string(path, value)?, &TLS_VERSIONS);
    match value {
        Value::Object(fields) => {
            let mut versions = TlsVersions::default();
            for (key, value) in fields {
                let path = format!("tlsVersion.{key}");
                match key.as_str() {
                    "min" => versions.min = version(&path, value)?,
                    "max" => versions.max = version(&path, value)?,
                    _ => return Err(OptionError::new(path, "unknown key: use min and max")),
                }
            }
            if versions.min.is_some() && versions.max.is_some() && versions.min > versions.max {
                return Err(OptionError::new("tlsVersion", "min must not be higher than max"));
            }
            Ok(Some(versions))
        }
        value => {
            let only = version("tlsVersion", value)?;
            Ok(only.map(|version| TlsVersions { min: Some(version.clone()), max: Some(version) }))
        }
    }
}

fn tls_auth(value: &Value) -> Result<Option<Vec<TlsAuth>>, OptionError> {
    let items = match value {
        Value::Null => return Ok(None),
        Value::Array(items) => items,
        other => return Err(OptionError::new("tlsAuth", format!("expected an array, found {}", kind(other)))),
    };
    let read = |(at, item): (usize, &Value)| {
        let path = format!("tlsAuth[{at}]");
        let mut auth = TlsAuth::default();
        for (key, value) in object(&path, item)?.into_iter().flatten() {
            let path = format!("{path}.{key}");
            match key.as_str() {
                "domains" => auth.domains = strings(&path, value)?.unwrap_or_default(),
                "cert" => auth.cert = string(&path, value)?.unwrap_or_default(),
                "key" => auth.key = string(&path, value)?.unwrap_or_default(),
                "password" => auth.password = string(&path, value)?,
                _ => return Err(OptionError::new(path, "unknown key: use domains, cert, key and password")),
            }
        }
        if auth.cert.is_empty() || auth.key.is_empty() {
            return Err(OptionError::new(path, "needs cert and key in PEM"));
        }
        Ok(auth)
    };
    items.iter().enumerate().map(read).collect::<Result<_, _>>().map(Some)
}

fn thresholds(value: &Value) -> Result<Option<BTreeMap<String, Vec<ThresholdOption>>>, OptionError> {
    let Some(fields) = object("thresholds", value)? else { return Ok(None) };
    let read = |(metric, value): (&String, &Value)| {
        Ok((metric.clone(), ThresholdOption::list(&format!("thresholds.{metric}"), value)?))
    };
    fields.iter().map(read).collect::<Result<_, _>>().map(Some)
}

fn trend_stats(value: &Value) -> Result<Option<Vec<String>>, OptionError> {
    let key = "summaryTrendStats";
    let stats = strings(key, value)?;
    for stat in stats.iter().flatten() {
        let is_percentile = stat
            .strip_prefix("p(")
            .and_then(|rest| rest.strip_suffix(')'))
            .and_then(|number| number.trim().parse::<f64>().ok())
            .is_some_and(|number| (0.0..=100.0).contains(&number));
        if !is_percentile && !["avg", "min", "med", "max", "count"].contains(&stat.as_str()) {
            let message = format!("expected avg, min, med, max, count or p(N) with N from 0 to 100, found '{stat}'");
            return Err(OptionError::new(key, message));
        }
    }
    Ok(stats)
}

fn time_unit(value: &Value) -> Result<Option<TimeUnit>, OptionError> {
    let key = "summaryTimeUnit";
    match string(key, value)?.as_deref() {
        None | Some("") => Ok(None),
        Some("s") => Ok(Some(TimeUnit::Seconds)),
        Some("ms") => Ok(Some(TimeUnit::Millis)),
        Some("us") => Ok(Some(TimeUnit::Micros)),
        Some(other) => Err(OptionError::new(key, format!("expected one of s, ms, us, found '{other}'"))),
    }
}
