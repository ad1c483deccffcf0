//! The tests that measure keep out of each other's way.

use std::path::Path;

#[test]
fn every_test_that_measures_says_whether_it_runs_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/measured");
    let mut tests = 0;
    for entry in std::fs::read_dir(folder).expect("it is a folder").flatten() {
        let source = std::fs::read_to_string(entry.path()).expect("it is text");
        for test in source.split("#[test]\n").skip(1) {
            let mut lines = test.lines().map(str::trim).skip_while(|line| !line.starts_with("fn "));
            let (name, first) = (lines.next().unwrap_or_default(), lines.next());
            let says = ["let _alone = alone();", "let _beside = beside();"].iter().any(|call| first == Some(call));
            assert!(says, "{}: {name}", entry.path().display());
            let measures = ["measured(", "hold(", "diagnose("].iter().any(|call| test.contains(call));
            let is_alone = first == Some("let _alone = alone();");
            assert!(is_alone || !measures, "{}: {name} measures beside other tests", entry.path().display());
            tests += 1;
        }
    }
    assert!(tests > 40, "{tests} tests measure");
}
