//! Flags that have no effect on a run: each is named on standard error.

use torr_test_support::program::torr;
use torr_test_support::script::{OK, Script, answering};

#[test]
fn a_flag_without_effect_is_named() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let feeder = folder.path().join("f.csv");
    std::fs::write(&feeder, "id\n1\n").expect("a file can be written");
    let feeder = feeder.to_str().expect("it is text");
    let url = server.url();
    let with_id = format!("{url}?id={{{{id}}}}");
    let (own, other) = (format!("{}:127.0.0.1", server.address), "other.test:80:127.0.0.1");
    for (args, line) in [
        (
            &["--cacert", "/etc/ssl/certs/ca-certificates.crt", &url][..],
            Some("--cacert has no effect: the URL is not https://"),
        ),
        (&["-k", &url], Some("--insecure has no effect")),
        (&["--tlsv1.3", &url], Some("--tlsv1.3 has no effect")),
        (&["--tls-max", "1.2", &url], Some("--tls-max has no effect")),
        (&["--sni", "a.test", &url], Some("--sni has no effect")),
        (&["--tls-resumption", "off", &url], Some("--tls-resumption has no effect")),
        (&["--feeder", feeder, &url], Some("--feeder has no effect: no placeholder such as {{NAME}} uses a field of")),
        (&["--feeder", feeder, &with_id], None),
        (&["--resolve", other, &url], Some("--resolve for other.test:80 has no effect")),
        (&["--resolve", &own, &url], None),
    ] {
        let ended = torr(&[args, &["-n", "2", "-c", "1", "-q"]].concat());
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), usize::from(line.is_some()), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line.unwrap_or_default()), "{args:?}: {ended:?}");
    }
}
