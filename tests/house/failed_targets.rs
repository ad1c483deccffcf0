//! `tests/cargo-test` reads what failed from cargo's own list of targets, whatever kind of failure it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cargo-test");

/// What a cargo prints at first, with an exit code; a second cargo prints its arguments and succeeds.
struct Cargo<'a> {
    prints: &'a str,
    code: u8,
}

impl Cargo<'_> {
    /// Runs the script on a machine from which a hypervisor took `stolen` of 1,000 ticks meanwhile.
    fn run(&self, stolen: u32) -> Output {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("stat"), "cpu  0 0 0 0 0 0 0 0 0 0\n").expect("the folder can be written");
        fs::write(at("later"), format!("cpu  0 0 0 {} 0 0 0 {stolen} 0 0\n", 1000 - stolen)).expect("it can");
        fs::write(at("prints"), self.prints).expect("it can");
        let program = format!(
            "#!/bin/sh\ncd '{}'\nif [ -e ran ]; then echo \"again: $RUST_TEST_THREADS $*\"; exit 0; fi\n>ran\nmv later stat\ncat prints\nexit {}\n",
            folder.path().display(),
            self.code
        );
        fs::write(at("cargo"), program).expect("it can");
        fs::set_permissions(at("cargo"), fs::Permissions::from_mode(0o755)).expect("it can be made a program");
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").expect("there is a PATH"));
        assert!(Path::new(SCRIPT).exists(), "{SCRIPT}");
        let mut script = Command::new(SCRIPT);
        script.args(["--workspace", "--", "--ignored"]).env("PATH", path).env("STAT", at("stat"));
        script.output().expect("bash is here")
    }
}

/// The calls of cargo after the first.
fn again(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.strip_prefix("again: ")).map(str::to_owned).collect()
}

#[test]
fn a_failure_is_final_on_a_machine_of_its_own() {
    let failed = "failures:\n    one::test\n\nerror: 1 target failed:\n    `-p torr --test cli`\n";
    let output = Cargo { prints: failed, code: 101 }.run(9);
    assert_eq!((output.status.code(), again(&output).len()), (Some(1), 0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("failed: -p torr --test cli; the hypervisor gave 9 per mille"), "{said}");
}

#[test]
fn every_failed_target_runs_again_where_the_hypervisor_took_the_cpu() {
    // A doctest, a test program that was aborted, and a test with digits and capitals in its name.
    let failed = "failures:\n    crates/torr-wire/src/lib.rs - head (line 12)\n\nfailures:\n    http_2::A\n\n\
                  error: test failed, to rerun pass `-p torr-net --test tls`\n\
                  error: 3 targets failed:\n    `-p torr-wire --doc`\n    `-p torr-net --test tls`\n    `-p torr --test cli`\n";
    let output = Cargo { prints: failed, code: 101 }.run(10);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let calls = ["-p torr-wire --doc", "-p torr-net --test tls", "-p torr --test cli"];
    let calls = calls.map(|target| format!("1 test --workspace {target} -- --ignored"));
    assert_eq!(again(&output), calls);
}

#[test]
fn what_is_no_list_of_targets_or_a_long_one_is_final() {
    let build = Cargo { prints: "error: could not compile `torr` (test \"cli\")\n", code: 101 }.run(500);
    assert_eq!((build.status.code(), again(&build).len()), (Some(1), 0), "{build:?}");
    let many = "error: 4 targets failed:\n    `-p a --lib`\n    `-p b --lib`\n    `-p c --lib`\n    `-p d --lib`\n";
    let many = Cargo { prints: many, code: 101 }.run(500);
    assert_eq!((many.status.code(), again(&many).len()), (Some(1), 0), "{many:?}");
    let passed = Cargo { prints: "test result: ok.\n", code: 0 }.run(500);
    assert_eq!((passed.status.code(), again(&passed).len()), (Some(0), 0), "{passed:?}");
}
