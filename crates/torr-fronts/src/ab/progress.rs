//! The output of ApacheBench during the run.

use super::args::{Args, BANNER};
use super::plan::method;
use torr_gauge::collector::Measurement;
use torr_gauge::{Secrets, redact};
use torr_press::Target;
use torr_press::request::sent_secrets;

/// The number of requests up to which no progress is shown.
const FEW: u64 = 150;

/// The output during the run, which begins when the service has been reached.
pub struct Output {
    /// The heading, until it is printed.
    heading: String,
    /// The requests for each line of progress, if there is progress.
    step: Option<u64>,
    shown: u64,
    print: fn(&str),
    /// The secrets of the request, which a server may send back.
    secrets: Secrets,
}

impl Output {
    /// Returns the output of a run that sends `request`.
    pub fn new(args: &Args, target: &Target, request: &[u8], print: fn(&str)) -> Self {
        let secrets = Secrets::new(sent_secrets(request));
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
            let request = secrets.mask(redact::header_section(&String::from_utf8_lossy(request)));
            heading.push_str(&format!("INFO: {} header ==\n---\n{request}\n---\n", method(args)));
        }
        Self { heading, step, shown: 0, print, secrets }
    }

    /// Shows that this many requests have completed.
    pub fn completed(&mut self, requests: u64) {
        (self.print)(&std::mem::take(&mut self.heading));
        let Some(step) = self.step else { return };
        while self.shown + step <= requests {
            self.shown += step;
            eprintln!("Completed {} requests", self.shown);
        }
    }

    /// Shows the end of the run.
    pub fn finished(&mut self, measured: &Measurement, args: &Args) {
        let requests = measured.result.requests;
        self.completed(requests);
        if let (Some(first), true) = (&measured.first, args.verbosity >= 2) {
            let field = |name: &str, value: &str| {
                format!("{}\n", redact::printable(&self.secrets.mask(format!("{name}: {value}"))))
            };
            let fields = first.headers.iter().map(|(name, value)| field(name, &String::from_utf8_lossy(value)));
            let fields: String = fields.collect();
            (self.print)(&format!("LOG: first header received:\n{fields}LOG: Response code = {}\n", first.status));
        }
        match self.step {
            Some(_) => eprintln!("Finished {requests} requests"),
            None => (self.print)("..done\n"),
        }
    }
}
