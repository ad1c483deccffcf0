//! A name that has an address of each family, of which only one listens: a mount of the test's own has the name.

use std::process::Command;
use torr_test_support::program::{Running, run, torr_path};
use torr_test_support::required::cannot_run;
use torr_test_support::servers::Serve;

#[test]
fn the_family_of_addresses_that_responds_is_chosen() {
    let may_mount = run("unshare", &["--mount", "true"]);
    if may_mount.code != Some(0) {
        return cannot_run("the_family_of_addresses_that_responds_is_chosen", &may_mount.stderr);
    }
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let hosts = folder.path().join("hosts");
    std::fs::write(&hosts, "::1 both.test\n127.0.0.1 both.test\n").expect("a file can be written");
    let script = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";
    for server in [Serve::start_on("[::1]:0", &[]), Serve::start(&[])] {
        let port = server.address.rsplit(':').next().expect("an address has a port");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(&hosts).arg(torr_path());
        command.args(["httpress", "-n100", "-c5", &format!("http://both.test:{port}/")]);
        let ended = Running::start(command).wait();
        let totals = ended.stdout.lines().find(|line| line.starts_with("TOTALS:")).unwrap_or_else(|| panic!("{ended:?}"));
        assert!(totals.contains(" 100 requests, 100 success, 0 fail,"), "{}: {totals}", server.address);
    }
}
