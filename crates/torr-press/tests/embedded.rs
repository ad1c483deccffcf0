//! The example of a load from another program.

mod server;

use std::process::Command;
use torr_test_support::example;

#[test]
fn the_example_loads_a_server() {
    let address = server::start(server::EMPTY);
    let ran = Command::new(example("embed-press")).arg(format!("http://{address}/")).output().expect("it runs");
    let (shown, progress) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && progress.contains(" responses so far"), "{progress}");
    let lines: Vec<_> = shown.lines().collect();
    let [responses, times] = lines[..] else { panic!("{shown}") };
    let (responses, rate) = responses.split_once(" responses, ").expect("it counts them");
    assert!(responses.parse().is_ok_and(|responses: u64| responses > 0) && rate.ends_with(" per second"), "{shown}");
    assert!(times.starts_with("99% within ") && times.ends_with(" us"), "{shown}");
}

#[test]
fn the_example_says_that_nothing_listens() {
    let ran = Command::new(example("embed-press")).arg("http://127.0.0.1:1/").output().expect("it runs");
    assert!(!ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains("connection refused"), "{ran:?}");
}
