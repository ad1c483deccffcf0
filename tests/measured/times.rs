//! Runs take the time that they were given, and no longer.

use torr_test_support::alone;
use torr_test_support::measured::measured;
use torr_test_support::program::torr_json;
use torr_test_support::quiet;
use torr_test_support::script::{OK, Script, answering};

#[test]
fn runs_take_no_longer_than_they_were_given() {
    let _alone = alone();
    let server = Script::start(answering(OK));
    let silent = Script::start(|client| while client.request().is_some() {});
    let (url, silent) = (server.url(), silent.url());
    for (args, least, most) in [
        (&["-d", "2s", "-c", "2", "-t", "1"][..], 2.0, 2.5),
        (&["-d", "1400ms", "-r", "0.1"], 1.4, 1.9),
        (&["-d", "1400ms", "-r", "2"], 1.4, 1.9),
        (&["-c", "4", "--warmup", "1s", "-d", "1s", "-t", "2"], 0.9, 1.5),
        (&["-r", "500", "-c", "20", "--warmup", "1s", "-d", "1s", "-t", "2"], 0.9, 1.5),
        // Two requests each have one pause between them, and none behind.
        (&["-n", "20", "-c", "10", "-t", "2", "--think", "1s"], 1.0, 1.8),
    ] {
        measured(&args.join(" "), || {
            let result = torr_json(&[args, &[&url]].concat());
            let took = result["duration_s"].as_f64().expect("it is a number");
            assert!(took >= least, "{args:?}: {took} s: {result}");
            quiet!(took < most, "{args:?}: {took} s");
        });
    }
    measured("the age of unfinished requests", || {
        let result = torr_json(&["-d", "1s", "-c", "3", &silent]);
        let age = result["latency_us"]["min"].as_u64().expect("it is a number");
        quiet!((900_000..=1_300_000).contains(&age), "{age} us: {result}");
    });
}
