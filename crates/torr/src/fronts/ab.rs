//! `torr ab`: ApacheBench's command line and layout.

mod request;

use super::run::{self, FrontLoad, create_file};
use crate::exit::{self, CliError};
use crate::output::print;
use crate::transcript;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use torr_fronts::UsageError;
use torr_fronts::ab::{Args, Parsed, USAGE, parse};
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::redact;
use torr_press::Target;
use torr_report::fronts::ab::{self as layout, files};

/// The exit code of bad usage where the usage is shown.
const BAD_USAGE: u8 = 22;
/// The number of requests up to which no progress is shown.
const FEW: u64 = 150;
const BANNER: &str = concat!(
    "This is torr ab, Version ",
    env!("CARGO_PKG_VERSION"),
    ", in the layout of ApacheBench 2.3\n",
    "What it measures otherwise than ApacheBench: docs/front-ends.md\n",
    "Licensed under MIT or Apache-2.0\n\n",
);

/// Runs the command line.
pub fn run(args: Vec<OsString>) -> Result<ExitCode, CliError> {
    match parse(args) {
        Ok(Parsed::Run(args)) => press(&args),
        Ok(Parsed::Version) => {
            print(BANNER);
            Ok(ExitCode::SUCCESS)
        }
        Ok(Parsed::Help) => {
            print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Err(UsageError { message: what, with_usage: true }) => {
            anstream::eprint!("ab: {what}\n{USAGE}");
            Ok(ExitCode::from(BAD_USAGE))
        }
        Err(UsageError { message: what, with_usage: false }) => Err(CliError::Failed(what)),
    }
}

fn press(args: &Args) -> Result<ExitCode, CliError> {
    let target = Target::parse(&args.url).map_err(CliError::usage)?;
    let (request, bytes) = request::request(args, &target)?;
    let mut percentages = args.percentages.as_deref().map(create_file).transpose()?;
    let mut gnuplot = args.gnuplot.as_deref().map(create_file).transpose()?;
    let layout = layout_of(args, &target);
    let mut begun = Begun::new(args, &target, &bytes);
    // ApacheBench has only one thread, which limits it.
    let slots = (args.concurrency, crate::press::cpus() as u64);
    let load = FrontLoad {
        source: args.source,
        duration: args.duration,
        requests: Some(args.requests),
        keep_alive: args.keep_alive,
        tls: args.tls.clone(),
        proxy: args.proxy.clone(),
        proxy_user: args.proxy_authorization.clone(),
        detailed: true,
        ..FrontLoad::new(target, request, slots, args.timeout)
    };
    let measured = load.press(|progress: &Progress| begun.completed(progress.requests))?;
    begun.finished(&measured, args);
    print(&match &args.table {
        Some([table, tr, td]) => layout::table(&measured, &layout, [table, tr, td]),
        None => layout::report(&measured, &layout),
    });
    let mut written = Ok(());
    if let Some(file) = &mut percentages {
        written = files::percentages(file, &measured).and_then(|()| file.flush());
    }
    if let Some(file) = &mut gnuplot {
        written = written.and_then(|()| files::requests(file, &measured)).and_then(|()| file.flush());
    }
    written.map_err(|error| CliError::Failed(format!("a file could not be written: {error}")))?;
    run::tell_verdict(&measured, &notes(args, &measured, &layout));
    Ok(exit_code(args, &measured))
}

fn layout_of(args: &Args, target: &Target) -> layout::Settings {
    layout::Settings {
        host: target.host.clone(),
        port: target.port,
        path: target.path().to_owned(),
        tls_name: (target.tls && !args.tls.no_sni).then(|| target.host.clone()),
        concurrency: usize::try_from(args.concurrency).unwrap_or(usize::MAX),
        variable_length: args.variable_length,
        sends_body: args.body.is_some(),
        keep_alive: args.keep_alive,
        no_percentiles: args.no_percentiles,
        no_deviation: args.no_deviation,
    }
}

fn notes(args: &Args, measured: &Measurement, layout: &layout::Settings) -> Vec<String> {
    let mut notes = layout::notes(measured, layout);
    if args.gnuplot.is_some() {
        notes.push("in the -g file only ttime is each request's own".into());
    }
    if args.buffer.is_some() {
        notes.push("-b has no effect: buffers are the system's".into());
    }
    if args.ciphers.is_some() {
        notes.push("-Z has no effect: all cipher suites are offered".into());
    }
    if args.verbosity > 2 {
        notes.push("-v shows no response but the first".into());
    }
    notes
}

/// Failed requests fail the command, unless they are forgiven.
fn exit_code(args: &Args, measured: &Measurement) -> ExitCode {
    let result = &measured.result;
    match () {
        () if result.interrupted => exit::interrupted(),
        () if result.requests == 0 => ExitCode::FAILURE,
        () if measured.total.failures.total() > 0 && !args.ignore_failures => ExitCode::FAILURE,
        () => ExitCode::SUCCESS,
    }
}

/// The output during the run, which begins when the service has been reached.
struct Begun {
    /// The heading, until it is printed.
    heading: String,
    /// The requests for each line of progress, if there is progress.
    step: Option<u64>,
    shown: u64,
}

impl Begun {
    fn new(args: &Args, target: &Target, request: &[u8]) -> Self {
        let step = (args.requests > FEW && !args.quiet).then(|| (args.requests / 10).max(100));
        let mut heading = match (&args.table, step) {
            (Some(_), _) => {
                let lines: String = BANNER.lines().filter(|l| !l.is_empty()).map(|l| format!(" {l}<br>\n")).collect();
                format!("<p>\n{lines}</p>\n<p>\n")
            }
            (None, Some(_)) => format!("{BANNER}Benchmarking {} (be patient)\n", target.host),
            (None, None) => format!("{BANNER}Benchmarking {} (be patient)...", target.host),
        };
        if args.verbosity >= 2 {
            let (request, method) =
                (transcript::without_secrets(&String::from_utf8_lossy(request)), request::method(args));
            heading.push_str(&format!("INFO: {method} header ==\n---\n{request}\n---\n"));
        }
        Self { heading, step, shown: 0 }
    }

    fn completed(&mut self, requests: u64) {
        print(&std::mem::take(&mut self.heading));
        let Some(step) = self.step else { return };
        while self.shown + step <= requests {
            self.shown += step;
            anstream::eprintln!("Completed {} requests", self.shown);
        }
    }

    fn finished(&mut self, measured: &Measurement, args: &Args) {
        let requests = measured.result.requests;
        self.completed(requests);
        if let (Some(first), true) = (&measured.first, args.verbosity >= 2) {
            let field = |name: &str, value: &str| format!("{name}: {}\n", redact::printable(value));
            let fields = first.headers.iter().map(|(name, value)| field(name, &String::from_utf8_lossy(value)));
            let fields: String = fields.collect();
            print(&format!("LOG: first header received:\n{fields}LOG: Response code = {}\n", first.status));
        }
        match self.step {
            Some(_) => anstream::eprintln!("Finished {requests} requests"),
            None => print("..done\n"),
        }
    }
}
