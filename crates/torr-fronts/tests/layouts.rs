//! The layouts of other programs, from measurements whose every figure is known.

use std::ffi::OsString;
use std::time::Duration;
use torr_fronts::ab::{Args, layout as ab};
use torr_fronts::httpress::layout as httpress;
use torr_fronts::press::layout as press;
use torr_fronts::wrk::{self, layout as wrk_layout};
use torr_gauge::collector::{Collector, FirstResponse, Measurement, RunFacts};
use torr_gauge::result::{PlanSummary, Tls};
use torr_gauge::{Failure, FailureKind, FailureSide, Sample};
use torr_press::Target;

/// A run of two seconds on two threads.
fn measured(first: Option<FirstResponse>, peak: u64, make: impl Fn(&mut Sample)) -> Measurement {
    let mut collector = Collector::new(2, Duration::from_secs(1));
    for thread in 0..2 {
        let mut sample = Sample::default();
        make(&mut sample);
        collector.take(thread, 0, &sample, false);
        collector.take(thread, 1, &Sample::default(), true);
    }
    let plan =
        PlanSummary { connections: 4, threads: Some(2), keep_alive: true, timeout_s: 30.0, ..PlanSummary::default() };
    collector.finish(RunFacts {
        target: "http://h:81/p".into(),
        plan,
        started_at: "1994-11-06T08:49:37.000Z".into(),
        duration: Duration::from_secs(2),
        peak: Some(peak),
        first,
        ..RunFacts::default()
    })
}

/// Adds 100 responses of 1 to 100 ms over 2 connections that took 3 ms.
fn hundred(sample: &mut Sample) {
    for ms in 1..=100 {
        sample.answered.record(ms * 1_000_000);
        sample.status.count(200);
    }
    for _ in 0..2 {
        sample.connect.record(3_000_000);
    }
    (sample.opened, sample.received, sample.body, sample.sent) = (2, 100 * 120, 100 * 20, 100 * 50);
}

fn first() -> Option<FirstResponse> {
    Some(FirstResponse { status: 200, headers: vec![("server".into(), b"nginx/1 (x)".to_vec())], body: 20 })
}

fn args() -> Args {
    Args { concurrency: 4, keep_alive: true, ..Args::default() }
}

fn page(measured: &Measurement, args: &Args) -> String {
    ab::report(measured, args, &Target::parse("http://h:81/p").unwrap())
}

#[test]
fn the_page_of_apachebench() {
    let page = page(&measured(first(), 4, hundred), &args());
    let expected = "

Server Software:        nginx/1
Server Hostname:        h
Server Port:            81

Document Path:          /p
Document Length:        20 bytes

Concurrency Level:      4
Time taken for tests:   2.000 seconds
Complete requests:      200
Failed requests:        0
Keep-Alive requests:    200
Total transferred:      24000 bytes
HTML transferred:       4000 bytes
Requests per second:    100.00 [#/sec] (mean)
Time per request:       40.000 [ms] (mean)
Time per request:       10.000 [ms] (mean, across all concurrent requests)
Transfer rate:          11.72 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:    0.000 0.06 0.421  0.000   3.001
Processing: 1.000 50.5 28.94 50.015 100.031
Waiting:    1.000 50.5 28.94 50.015 100.031
Total:      1.000 50.5 28.94 50.015 100.031

Percentage of the requests served within a certain time (ms)
  50%  50.02
  66%  66.05
  75%  75.01
  80%  80.06
  90%  90.05
  95%  95.04
  98%  98.05
  99%  99.01
 100%  100.0 (longest request)
";
    assert_eq!(page, expected);
    assert_eq!(ab::notes(&measured(first(), 4, hundred), &args()).len(), 1);
}

#[test]
fn apachebench_without_what_was_not_wanted() {
    let args = Args {
        variable_length: true,
        body: Some(("file".into(), "POST")),
        no_percentiles: true,
        no_deviation: true,
        ..args()
    };
    let page = page(&measured(None, 4, hundred), &args);
    for line in [
        "Server Software:        ",
        "Document Length:        Variable",
        "Total body sent:        10000",
        "                        4.88 kb/s sent",
        "                        16.60 kb/s total",
        "              min   avg   max",
        "Total:      1.000 50.50  100",
    ] {
        assert!(page.lines().any(|other| other == line), "{line:?} is not in {page}");
    }
    assert!(!page.contains('%'), "{page}");
}

#[test]
fn failures_are_reported_by_kind_and_lengths_may_differ() {
    let failing = |sample: &mut Sample| {
        hundred(sample);
        sample.body += 1;
        sample.status.count(302);
        sample.closed_by_server = 30;
        for (kind, count) in [
            (FailureKind::Connect, 1),
            (FailureKind::Ports, 2),
            (FailureKind::Read, 3),
            (FailureKind::Timeout, 4),
            (FailureKind::Write, 5),
        ] {
            (0..count).for_each(|_| sample.failures.count(Failure::new(kind, FailureSide::Server, "x")));
        }
    };
    let measured = measured(first(), 4, failing);
    let page = page(&measured, &args());
    let block = "\
Complete requests:      200
Failed requests:        30
   (Connect: 6, Receive: 6, Length: 0, Exceptions: 8)
Write errors:           10
Non-2xx responses:      2
Keep-Alive requests:    140
Total transferred:      24000 bytes
";
    assert!(page.contains(block), "{page}");
    let notes = ab::notes(&measured, &args()).join("; ");
    assert!(
        notes.contains("differ in length") && notes.contains("complete requests are those with a response"),
        "{notes}"
    );
    let text = wrk_layout::report(&measured, &on_wrk(""));
    assert!(text.contains("\n  Socket errors: connect 6, read 6, write 10, timeout 8\n"), "{text}");
    let notes = wrk_layout::notes(&measured).join("; ");
    assert!(notes.ends_with("at their age: 8 timed out"), "{notes}");
}

#[test]
fn with_a_connection_each_processing_is_what_comes_after_connecting() {
    let short = |sample: &mut Sample| {
        hundred(sample);
        (0..98).for_each(|_| sample.connect.record(3_000_000));
        (0..100).for_each(|_| sample.processing.record(40_000_000));
        (0..100).for_each(|_| sample.waiting.record(20_000_000));
        sample.opened = 100;
    };
    let measured = measured(first(), 4, short);
    let page = page(&measured, &Args { keep_alive: false, ..args() });
    let rows = "
Connect:    3.000 3.00 0.000  3.001   3.001
Processing: 40.00 40.0 0.000 40.031  40.031
Waiting:    20.00 20.0 0.000 20.015  20.015
Total:      1.000 50.5 28.94 50.015 100.031
";
    assert!(page.contains(rows), "{page}");
}

#[test]
fn tls_has_the_names_that_openssl_has_for_it() {
    for (cipher, theirs) in [
        ("TLS13_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384,-,256"),
        ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256,-,128"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305,-,256"),
    ] {
        let mut measured = measured(first(), 4, hundred);
        let group = Some("X25519".to_owned());
        measured.result.tls = Some(Tls { version: "TLSv1.3".into(), cipher: cipher.into(), group, ..Tls::default() });
        let page = ab::report(&measured, &args(), &Target::parse("https://h:81/p").unwrap());
        let rows = format!(
            "SSL/TLS Protocol:       TLSv1.3,{theirs}\nServer Temp Key:        X25519 253 bits\nTLS Server Name:        h\n"
        );
        assert!(page.contains(&rows), "{page}");
    }
}

#[test]
fn nothing_answered_leaves_out_what_would_divide_by_it() {
    let refused =
        |sample: &mut Sample| sample.failures.count(Failure::new(FailureKind::Read, FailureSide::Server, "x"));
    let measured = measured(None, 1, refused);
    let page = page(&measured, &args());
    assert!(page.ends_with("HTML transferred:       0 bytes\n"), "{page}");
    let text = httpress::report(&measured, false);
    assert!(text.contains("0 connect, 2 requests, 0 success, 2 fail"), "{text}");
    assert!(press::report(&measured).contains("0.000 ms avg req time"));
}

#[test]
fn files_of_apachebench() {
    let measured = measured(first(), 4, hundred);
    let (mut csv, mut tsv) = (Vec::new(), Vec::new());
    ab::files::percentages(&mut csv, &measured).unwrap();
    ab::files::requests(&mut tsv, &measured).unwrap();
    let (csv, tsv) = (String::from_utf8(csv).unwrap(), String::from_utf8(tsv).unwrap());
    let csv: Vec<_> = csv.lines().collect();
    assert_eq!((csv.len(), csv[0], csv[1], csv[101]), (102, "Percentage served,Time in ms", "0,1.000", "100,100.031"));
    let tsv: Vec<_> = tsv.lines().collect();
    assert_eq!((tsv.len(), tsv[0]), (201, "starttime\tseconds\tctime\tdtime\tttime\twait"));
    assert_eq!(tsv[1], "Sun Nov 06 08:49:37 1994\t784111777\tNaN\tNaN\t1.000\tNaN");
    let times: Vec<f64> = tsv[1..].iter().map(|line| line.split('\t').nth(4).unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted() && times[199] > 100.0, "{times:?}");
}

#[test]
fn html_has_a_row_for_each_figure() {
    let target = Target::parse("http://h:81/?a&b").unwrap();
    let attributes = ["border=1", "a=b", "c=d"].map(str::to_owned);
    let html = ab::table(&measured(first(), 4, hundred), &args(), &target, &attributes);
    assert!(html.starts_with("\n\n<table border=1>\n") && html.ends_with("</table>\n"), "{html}");
    for row in [
        "<tr a=b><th colspan=2 c=d>Server Software:</th><td colspan=2 c=d>nginx/1</td></tr>",
        "<tr a=b><th colspan=2 c=d>Document Path:</th><td colspan=2 c=d>/?a&amp;b</td></tr>",
        "<tr a=b><th c=d>Total:</th><td c=d>1.000</td><td c=d>50.50</td><td c=d>100.0</td></tr>",
    ] {
        assert!(html.lines().any(|line| line == row), "{row} is not in {html}");
    }
}

fn on_wrk(options: &str) -> wrk::Args {
    let line = format!("-t2 -c4 -d120 --latency {options} http://h:81/p");
    match wrk::parse(line.split_whitespace().map(OsString::from).collect()) {
        Ok(wrk::Parsed::Run(args)) => args,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_text_of_wrk() {
    let args = on_wrk("");
    let text = wrk_layout::heading(&args) + &wrk_layout::report(&measured(None, 4, hundred), &args);
    let expected = "\
Running 2m test @ http://h:81/p
  2 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    50.50ms   28.94ms 100.03ms   58.00%
    Req/Sec   100.00      0.00   100.00    100.00%
  Latency Distribution
     50%   50.02ms
     75%   75.01ms
     90%   90.05ms
     99%   99.01ms
  200 requests in 2.00s, 23.44KB read
Requests/sec:    100.00
Transfer/sec:     11.72KB
";
    assert_eq!(text, expected);
}

#[test]
fn wrk2_shows_the_steps_of_its_histogram() {
    let text = wrk_layout::report(&measured(None, 4, hundred), &on_wrk("-R 100"));
    for line in [
        "  Latency Distribution (HdrHistogram - Recorded Latency)",
        " 99.900%  100.03ms",
        "  Detailed Percentile spectrum:",
        "       Value   Percentile   TotalCount 1/(1-Percentile)",
        "      50.015     0.500000          100         2.00",
        "     100.031     1.000000          200          inf",
        "#[Max     =      100.031, Total count    =          200]",
    ] {
        assert!(text.lines().any(|other| other == line), "{line:?} is not in {text}");
    }
}

#[test]
fn the_text_of_httpress_and_of_press() {
    let with_errors = |sample: &mut Sample| {
        hundred(sample);
        (0..10).for_each(|_| sample.status.count(404));
        (0..10).for_each(|_| sample.answered.record(1_000_000));
        sample.failures.count(Failure::new(FailureKind::Read, FailureSide::Server, "x"));
    };
    let measured = measured(None, 4, with_errors);
    // 200 x 50.5 ms and 20 x 1 ms in 2 s are 5.1 at a time.
    assert_eq!(
        httpress::report(&measured, true),
        "\
thread 1: 2 connect, 111 requests, 100 success, 11 fail, 2000 bytes, 10000 overhead
thread 2: 2 connect, 111 requests, 100 success, 11 fail, 2000 bytes, 10000 overhead

TOTALS:  4 connect, 222 requests, 200 success, 22 fail, 4 (5) real concurrency
TRAFFIC: 18 avg bytes, 90 avg overhead, 4000 bytes, 20000 overhead
TIMING:  2.000 seconds, 100 rps, 11 kbps, 46.0 ms avg req time
"
    );
    assert_eq!(
        press::report(&measured),
        "
TOTALS:   4 connect, 222 requests, 200 success, 22 fail
TRAFFIC:  18 avg bytes, 90 avg overhead, 4000 bytes, 20000 overhead
TIMING:   2.000 seconds, 100 rps, 46.003 ms avg req time
SPEED:    download 12.000 kBps, upload 5.000 kBps

"
    );
}
