//! A server inside of another program.

use std::process::Command;
use torr_test_support::example;

#[test]
fn it_serves_and_stops_when_the_program_says_so() {
    let ran = Command::new(example("embed-serve")).output().expect("it runs");
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "visit 1\nvisit 2\nvisit 3\nstopped after 3 visits\n");
}
