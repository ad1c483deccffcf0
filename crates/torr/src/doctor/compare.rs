//! `torr doctor` with `--sweep`, `--via`, `--tls` or `--paths`: from the command line to the compared variants.

pub mod args;
mod course;
mod render;
mod sentences;
mod sweep;
mod written;

use super::args::DoctorArgs;
use super::assignment::{assignment, plan, remote};
use super::outcome::{halted, put};
use super::progress::Shown;
use crate::exit::{self, CliError};
use crate::interrupt;
use crate::sink::Sink;
use course::{Course, Found};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_doctor::Observer;
use torr_doctor::compare::{HttpVersion, Secured, Transport, Way, most_variants, paths, tls, via};
use torr_gauge::redact;
use torr_load::{Load, Work};
use torr_press::request::Options;
use torr_press::{Plan, Target};
use written::WrittenComparison;

/// How long a server may take to respond in a version of HTTP that it may not have.
const PROBE: Duration = Duration::from_secs(2);

/// Compares and prints the result.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, CliError> {
    if args.through.fleet()?.is_some() {
        return Err(CliError::Usage("--fleet is not supported in a comparison, which loads from this machine".into()));
    }
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let shown = Shown::new(args.budget, !args.quiet);
    let course = Course { stop: interrupt::flag()?, tell: &mut |step| shown.step(step) };
    let compare = &args.compare;
    let found = match (&compare.command, &compare.via, &compare.tls) {
        (Some(command), ..) => sweep::sweep(args, command, course),
        (_, Some(proxy), _) => by_proxy(args, proxy, course),
        (_, _, Some(secured)) => by_tls(args, secured.as_deref(), course),
        _ => by_path(args, course),
    };
    shown.clear();
    let comparison = match found? {
        Ok(comparison) => comparison,
        Err(halt) => return halted(halt, "the first round"),
    };
    let written = WrittenComparison::of(comparison);
    put(&written, json, || render::text(&written))?;
    Ok(if written.comparison.interrupted { exit::interrupted() } else { ExitCode::SUCCESS })
}

fn by_path(args: &DoctorArgs, course: Course<'_>) -> Found {
    let requested = &args.compare.paths;
    if let Some(path) = requested.iter().find(|path| !path.starts_with('/')) {
        return Err(CliError::Usage(format!("invalid path '{path}': it must begin with '/'")));
    }
    if requested.len() < 2 {
        return Err(CliError::Usage("--paths needs at least two paths, as in --paths /db/raw,/db/model".into()));
    }
    let target = Target::parse(url(args)).map_err(CliError::usage)?;
    let planned = |path: &String| plan(args, &to(args, &target.whole_as_user(path)));
    let plans = requested.iter().map(planned).collect::<Result<Vec<_>, _>>()?;
    let observer = observer(args, &plans[0].0)?;
    let way = |(path, (plan, _)): (&String, &(Plan, _))| way(&redact::url(path), plan, &observer);
    let ways: Vec<_> = requested.iter().zip(&plans).map(way).collect();
    let (first, options) = plans[0].clone();
    Ok(paths(&assignment(args, first, options, None)?, &ways, &course.stop, course.tell))
}

fn by_proxy(args: &DoctorArgs, proxy: &str, course: Course<'_>) -> Found {
    let service = Target::parse(url(args)).map_err(CliError::usage)?;
    let proxy = Target::parse(proxy).map_err(CliError::usage)?;
    let path = if proxy.path() == "/" { service.path() } else { proxy.path() };
    let (direct, options) = plan(args, &to(args, url(args)))?;
    let (through, _) = plan(args, &to(args, &proxy.whole_as_user(path)))?;
    let observers = [observer(args, &direct)?, observer(args, &through)?];
    let ways = [way("directly", &direct, &observers[0]), way("through the proxy", &through, &observers[1])];
    Ok(via(&assignment(args, direct, options, None)?, &ways, &course.stop, course.tell))
}

fn by_tls(args: &DoctorArgs, secured: Option<&str>, course: Course<'_>) -> Found {
    let (plain, secured) = plain_and_secured(args, secured)?;
    let (mut transports, mut plans) = (Vec::new(), Vec::new());
    for (url, how) in [(plain, Secured::Plain), (Some(secured), Secured::Full), (Some(secured), Secured::Resumed)] {
        let Some(url) = url else { continue };
        for keep_alive in [true, false] {
            let mut load = args.load.to(Some(url), keep_alive);
            let resumption = if how == Secured::Full { "full" } else { "on" };
            load.set("tls-resumption", resumption).map_err(CliError::Usage)?;
            transports.push(Transport { version: HttpVersion::Http1, secured: how, keep_alive });
            plans.push(plan(args, &load)?);
        }
    }
    let most = most_variants(args.budget);
    for version in [HttpVersion::Http2, HttpVersion::Http3] {
        if plans.len() < most
            && let Some(planned) = over(args, secured, version, &course.stop)?
        {
            transports.push(Transport { version, secured: Secured::Resumed, keep_alive: true });
            plans.push(planned);
        }
    }
    // The first and the last plan are of the two servers, or of the same.
    let observers = [observer(args, &plans[0].0)?, plans.last().map_or(Ok(None), |(plan, _)| observer(args, plan))?];
    let way = |(transport, (plan, _)): (&Transport, &(Plan, _))| {
        way(&transport.to_string(), plan, &observers[usize::from(transport.secured != Secured::Plain)])
    };
    let ways: Vec<_> = transports.iter().zip(&plans).map(way).collect();
    let (first, options) = plans[0].clone();
    Ok(tls(&assignment(args, first, options, None)?, &transports, &ways, &course.stop, course.tell))
}

/// Returns the load over a later version of HTTP, if the server responds in it and the user has selected none.
fn over(
    args: &DoctorArgs,
    secured: &str,
    version: HttpVersion,
    stop: &AtomicBool,
) -> Result<Option<(Plan, Options)>, CliError> {
    let mut load = args.load.to(Some(secured), true);
    if load.transport.http2.is_on() || load.transport.http3 {
        return Ok(None);
    }
    load.transport.http2.http2 = version == HttpVersion::Http2;
    load.transport.http3 = version == HttpVersion::Http3;
    // What excludes a version, such as a proxy, is no reason to compare nothing.
    if load.excluded(Work::Requests).is_some() {
        return Ok(None);
    }
    let planned = plan(args, &load)?;
    let once = Plan {
        connections: 1,
        threads: 1,
        requests: Some(1),
        timeout: planned.0.timeout.min(PROBE),
        watch_server: false,
        ..planned.0.clone()
    };
    let is_spoken = torr_press::run(&once, stop, |_| {}).is_ok_and(|run| run.result.requests == 1);
    Ok(is_spoken.then_some(planned))
}

/// The URL without TLS, if there is one, and the one with it.
fn plain_and_secured<'a>(args: &'a DoctorArgs, given: Option<&'a str>) -> Result<(Option<&'a str>, &'a str), CliError> {
    let is_tls = |url: &str| Target::parse(url).map(|target| target.tls).map_err(CliError::usage);
    let plain = args.compare.plain.as_deref();
    let (plain, secured) = match (args.url.as_deref(), given) {
        // '--tls URL' without another: it is the URL that has TLS.
        (None, Some(secured)) => (plain, secured),
        (Some(url), None) if is_tls(url)? => (plain, url),
        (Some(url), Some(secured)) if plain.is_none() => (Some(url), secured),
        (Some(_), Some(_)) => {
            return Err(CliError::Usage("--plain needs an https URL and '--tls' without a value".into()));
        }
        _ => return Err(CliError::Usage("--tls needs the service's https URL: as its value, or as URL".into())),
    };
    if !is_tls(secured)? {
        return Err(CliError::Usage(format!("--tls needs an https URL, found '{secured}'")));
    }
    match plain {
        Some(plain) if is_tls(plain)? => Err(CliError::Usage(format!("--plain needs an http URL, found '{plain}'"))),
        plain => Ok((plain, secured)),
    }
}

fn to(args: &DoctorArgs, url: &str) -> Load {
    args.load.to(Some(url), !args.no_keepalive)
}

fn url(args: &DoctorArgs) -> &str {
    args.url.as_deref().unwrap_or_default()
}

fn way<'w>(name: &str, plan: &Plan, observer: &'w Option<Box<dyn Observer>>) -> Way<'w> {
    Way { name: name.into(), plan: plan.clone(), observer: observer.as_deref() }
}

/// Returns the observer of a server's machine: the remote one that the user has given, or this one.
fn observer(args: &DoctorArgs, plan: &Plan) -> Result<Option<Box<dyn Observer>>, CliError> {
    if let Some(remote) = remote(args, plan.target.port)? {
        return Ok(Some(Box::new(remote)));
    }
    Ok(plan.watcher().map(|watcher| Box::new(watcher) as Box<dyn Observer>))
}
