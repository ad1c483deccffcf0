//! The page that ApacheBench prints.

use super::rows::{Row, counts, service};
use super::times::{Times, milliseconds};
use crate::ab::args::Args;
use crate::figures::{latency, per_second};
use crate::spread::percentile;
use std::fmt::Write;
use torr_gauge::collector::Measurement;
use torr_press::Target;

/// The percentiles on the page.
const PERCENTILES: [u8; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// Returns the page from behind the line that names the server.
pub fn report(measured: &Measurement, args: &Args, target: &Target) -> String {
    let mut page = String::from("\n\n");
    let block = |page: &mut String, rows: &[Row]| {
        for (label, value) in rows {
            let _ = match label.is_empty() {
                true => writeln!(page, "   ({value})"),
                false => writeln!(page, "{label:<24}{value}"),
            };
        }
    };
    let service = service(measured, args, target);
    // The last two rows describe the document.
    let (server, document) = service.split_at(service.len() - 2);
    block(&mut page, server);
    page.push('\n');
    block(&mut page, document);
    page.push('\n');
    block(&mut page, &counts(measured, args));
    if measured.result.requests > 0 {
        rates(&mut page, measured, args);
        connection_times(&mut page, measured, args);
        if !args.no_percentiles {
            percentiles(&mut page, measured);
        }
    }
    page
}

fn rates(page: &mut String, measured: &Measurement, args: &Args) {
    let result = &measured.result;
    let each = result.duration_s * 1e3 / result.requests as f64;
    let (received, sent) = (per_second(result.bytes.received, measured), per_second(result.bytes.sent, measured));
    let _ = writeln!(page, "{:<24}{:.2} [#/sec] (mean)", "Requests per second:", per_second(result.requests, measured));
    let _ = writeln!(page, "{:<24}{:.3} [ms] (mean)", "Time per request:", each * args.concurrency as f64);
    let _ = writeln!(page, "{:<24}{each:.3} [ms] (mean, across all concurrent requests)", "Time per request:");
    let _ = writeln!(page, "{:<24}{:.2} [Kbytes/sec] received", "Transfer rate:", received / 1024.0);
    if args.body.is_some() {
        let _ = writeln!(page, "{:<24}{:.2} kb/s sent", "", sent / 1024.0);
        let _ = writeln!(page, "{:<24}{:.2} kb/s total", "", (sent + received) / 1024.0);
    }
}

fn connection_times(page: &mut String, measured: &Measurement, args: &Args) {
    page.push_str("\nConnection Times (ms)\n");
    let rows = Times::of(measured).rows();
    if args.no_deviation {
        page.push_str("              min   avg   max\n");
        for (name, s) in rows {
            // ApacheBench leaves no space before the last column, which is one wider.
            let [min, mean, max] = [(s.min, 5), (s.mean, 5), (s.max, 4)].map(|(us, width)| milliseconds(us, width));
            let _ = writeln!(page, "{name:<12}{min} {mean} {max}");
        }
        return;
    }
    page.push_str("              min  mean[+/-sd] median   max\n");
    for (name, s) in rows {
        let columns = [(s.min, 5), (s.mean, 4), (s.sd, 5), (s.median, 6), (s.max, 7)];
        let columns = columns.map(|(us, width)| milliseconds(us, width)).join(" ");
        let _ = writeln!(page, "{name:<12}{columns}");
    }
}

fn percentiles(page: &mut String, measured: &Measurement) {
    page.push_str("\nPercentage of the requests served within a certain time (ms)\n");
    let total = latency(measured);
    for percent in PERCENTILES {
        let time = milliseconds(percentile(&total, percent.into()), 5);
        let longest = if percent == 100 { " (longest request)" } else { "" };
        let _ = writeln!(page, " {percent:>3}%  {time}{longest}");
    }
}
