//! `torr report` and `--report`: pages of real runs, hostile servers and files that are no results.

use std::path::Path;
use torr_test_support::program::{Ended, torr};
use torr_test_support::result::forget_validity;
use torr_test_support::script::{OK, Script, answering};

/// What a server might send to those who look at a page of its responses.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Demands a page that has these texts, and neither loads anything nor runs anything but its own script.
fn is_page(page: &str, texts: &[&str]) {
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    let (page, script) = page.rsplit_once("<script>\"use strict\";").expect("it has its script");
    assert!(script.trim_end().ends_with("</script></body></html>") && script.matches("</").count() == 3, "{script}");
    assert!(page.contains("default-src 'none'"), "{page}");
    // Escaped text has no '<', so that these are the tags alone.
    let tags = page.split('<').skip(1).filter_map(|piece| piece.split('>').next());
    // Links to parts of the page load nothing.
    for tag in tags.filter(|tag| !tag.starts_with("a href=\"#")) {
        let loading = ["script", "img", "link", "iframe", "a ", "object", "form", "base"];
        assert!(!loading.iter().any(|element| tag.starts_with(element)), "<{tag}>");
        assert!(
            ![" src=", " href=", " onload=", " onerror=", " style="].iter().any(|name| tag.contains(name)),
            "<{tag}>"
        );
    }
    assert!(!page.contains("url(") && !page.contains("@import"), "{page}");
    for text in texts {
        assert!(page.contains(text), "{text} is not in {page}");
    }
}

fn ended(args: &[&str], code: i32) -> Ended {
    let ended = torr(args);
    assert_eq!(ended.code, Some(code), "{args:?}: {ended:?}");
    ended
}

#[test]
fn a_run_writes_its_page_and_a_file_makes_the_same_one() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
    let run = [
        "-n",
        "200",
        "-c",
        "2",
        "-t",
        "1",
        "-q",
        &server.url(),
        "--json",
        &path("a.json"),
        "--report",
        &path("a.html"),
    ];
    ended(&run, 0);
    let page = read(Path::new(&path("a.html")));
    is_page(
        &page,
        &[&server.url(), "200 responses", "Distribution", "Phases", "How to repeat it"].map(|text| match text {
            "200 responses" => "<dd>200</dd>",
            other => other,
        }),
    );
    assert_eq!(ended(&["report", &path("a.json"), "-o", "-"], 0).stdout.replace(&path("a.json"), "this run"), page);
    let both = ended(&["report", &path("a.json"), &path("a.json"), "-o", &path("both.html")], 0);
    assert_eq!((both.stdout.as_str(), both.stderr.as_str()), ("", ""));
    is_page(&read(Path::new(&path("both.html"))), &["2 results", "All results", "How to repeat it"]);
}

#[test]
fn a_page_links_the_run_before_that_lies_beside_it() {
    let (server, other) = (Script::start(answering(OK)), Script::start(answering(OK)));
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
    let run = |url: &str, name: &str| {
        let (json, page) = (path(&format!("{name}.json")), path(&format!("{name}.html")));
        ended(&["-n", "200", "-c", "2", "-t", "1", "-q", url, "--json", &json, "--report", &page], 0);
        read(page.as_ref())
    };
    std::fs::write(path("broken.json"), "{").expect("it is written");
    is_page(&run(&server.url(), "first"), &[]);
    is_page(&run(&other.url(), "elsewhere"), &[]);
    let second = run(&server.url(), "second");
    let [all, within] = ["href=", "href=\"#"].map(|link| second.matches(link).count());
    assert_eq!(all - within, 1, "{second}");
    assert!(second.contains("The run before: <a href=\"./first.html\">"), "{second}");
    std::fs::remove_file(path("first.html")).expect("it was written");
    ended(&["report", &path("second.json"), "-o", &path("again.html")], 0);
    let again = read(path("again.html").as_ref());
    assert!(again.contains("The run before: <a href=\"./first.json\">"), "{again}");
    // In another directory, there is no run before.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let page = elsewhere.path().join("page.html");
    ended(&["report", &path("second.json"), "-o", page.to_str().expect("it is text")], 0);
    is_page(&read(&page), &[]);
}

#[test]
fn the_command_of_a_page_makes_the_same_load_again() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
    let url = format!("{}?a=1&b='2'", server.url());
    let (json, html) = (path("a.json"), path("a.html"));
    let plan = |args: &[&str]| -> serde_json::Value {
        let all = [args, &["-q", "--json", &json, "--report", &html]].concat();
        ended(&all, 0);
        let result: serde_json::Value = serde_json::from_str(&read(Path::new(&json))).expect("it is JSON");
        assert_eq!(result["target"].as_str(), Some(url.as_str()));
        result["plan"].clone()
    };
    for flags in [
        "-n 30 -d 9.5 -c 2 -t 1 --max-rate 900 --think 1ms..2ms --timeout 2500ms --requests-per-connection 7 --warmup 50ms",
        "-r 200 -d 0.2 --arrivals poisson -c 4 -t 2",
        "-r 300.5 -n 30 --coalesce 40us -X PUT -t 2",
        "-r 300 -n 30 --coalesce 0",
        "-n 30 --pipeline 4 -c 2 -t 2",
        "-n 30 -c 2 --no-keepalive",
    ] {
        let given: Vec<_> = flags.split(' ').collect();
        let planned = plan(&[&[url.as_str()], &given[..]].concat());
        let page = read(Path::new(&html));
        let (_, command) = page.split_once("<pre tabindex=\"0\">torr ").expect("there is a command");
        let command = command.split('<').next().unwrap_or_default();
        let command = command.replace("&amp;", "&").replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<");
        let words = shlex::split(&command).expect("a shell can read it");
        let again = plan(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(again, planned, "{flags}: {command}");
    }
    plan(&[&url, "--stages", "0:100,200ms:200"]);
    is_page(&read(Path::new(&html)), &["--stages '0:100,200ms:200'"]);
    // A result of a version that kept no command line.
    let mut old: serde_json::Value = serde_json::from_str(&read(Path::new(&json))).expect("it is JSON");
    old.as_object_mut().expect("it is an object").remove("command").expect("it has one");
    std::fs::write(&json, old.to_string()).expect("a file can be written");
    is_page(
        &ended(&["report", &json, "-o", "-"], 0).stdout,
        &["No command is shown: the result does not contain the stages"],
    );
}

#[test]
fn what_a_hostile_server_sends_does_nothing_in_the_page() {
    let response = format!(
        "HTTP/1.1 500 {HOSTILE}\r\nX-{0}: {HOSTILE}\r\nContent-Length: {1}\r\n\r\n{HOSTILE}",
        "A",
        HOSTILE.len()
    );
    let server = Script::start(answering(response.leak().as_bytes()));
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("<b>x.html");
    let shown = page.to_str().expect("it is text");
    ended(&["-n", "10", "-c", "1", "-t", "1", "-q", &format!("{}?%3Cscript%3E='", server.url()), "--report", shown], 0);
    let page = read(&page);
    is_page(&page, &["&lt;script&gt;alert(1)&lt;/script&gt;", "The first response with an error status"]);
}

#[test]
fn the_doctor_and_the_search_for_a_limit_write_their_pages() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
    let doctor =
        ["doctor", &server.url(), "-c", "2", "--max-rate", "200", "--budget", "5s", "-q", "--report", &path("d.html")];
    assert!(ended(&doctor, 0).stdout.contains("verdict"));
    is_page(&read(Path::new(&path("d.html"))), &["Experiments", "torr doctor http://"]);
    let limit = ["limit", &server.url(), "--max-rate", "200", "--max-connections", "4", "--budget", "5s", "-q"];
    // Whether so little time suffices for a rate is not what is tested.
    let ended = torr(&[&limit[..], &["--report", "-", "--json", &path("l.json")]].concat());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    is_page(&ended.stdout, &["Steps of the search", "torr limit http://"]);
    let all = ["report", &path("l.json"), "-o", &path("l.html")];
    assert_eq!(torr(&all).code, Some(0));
    assert_eq!(read(Path::new(&path("l.html"))).replace(&path("l.json"), "this run"), ended.stdout);
}

#[test]
fn files_that_are_no_results_are_refused_in_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file can be written");
        path.to_str().expect("it is text").to_owned()
    };
    let page = folder.path().join("never.html");
    let output = page.to_str().expect("it is text");
    for (result, wanted) in [
        (file("empty.json", b""), "is not JSON"),
        (file("binary.json", b"\xff\xfe\x00"), "expected text"),
        (file("foreign.json", b"{\"a\": 1}"), "is not a result of torr"),
        (file("other.json", b"{\"schema\": \"torr.compare/1\"}"), "torr.compare/1"),
        (file("part.json", b"{\"schema\": \"torr.run/1\", \"target\": \"x\"}"), "not a complete result"),
        ("/no/such/file.json".into(), "cannot read"),
        (folder.path().to_str().expect("it is text").into(), "cannot read"),
    ] {
        let refused = ended(&["report", &result, "-o", output], 2);
        assert!(refused.stderr.contains(wanted) && refused.stderr.lines().count() == 1, "{result}: {refused:?}");
        assert!(!page.exists(), "{result}: nothing is written");
    }
    let refused = ended(&["doctor", "http://127.0.0.1:1", "--json", "-", "--report", "-"], 2);
    assert!(refused.stderr.contains("--json and --report"), "{refused:?}");
    let refused = ended(&["http://127.0.0.1:1", "--json", "-", "--report", "-"], 2);
    assert!(refused.stderr.contains("--json and --report cannot both"), "{refused:?}");
}

#[test]
fn no_output_is_written_over_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
    let (x, also_x, kept) = (path("x"), path("./x"), path("kept"));
    std::fs::write(&kept, "kept").expect("a file can be written");
    let url = "http://127.0.0.1:1";
    let [run, doctor, limit, compare] = [&[url][..], &["doctor", url], &["limit", url], &["compare", url, url]];
    for (command, one, other) in [
        (run, "--json", "--report"),
        (run, "--csv", "--junit"),
        (doctor, "--json", "--report"),
        (limit, "--json", "--report"),
        (compare, "--json", "--report"),
        (compare, "--report", "--junit"),
        (compare, "--report", "--markdown"),
        (compare, "--markdown", "--junit"),
    ] {
        for (to, to_other, named) in
            [(&x, &also_x, "/x"), (&kept, &kept, "kept"), (&"-".into(), &"-".into(), "standard output")]
        {
            let refused = ended(&[command, &[one, to, other, to_other]].concat(), 2);
            let line = format!("{one} and {other} cannot both go to ");
            assert!(refused.stderr.contains(&line) && refused.stderr.contains(named), "{command:?}: {refused:?}");
            assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
        }
        assert!(!Path::new(&x).exists() && read(Path::new(&kept)) == "kept", "{command:?}: nothing is written");
    }
}

#[test]
fn a_comparison_of_results_has_its_page() {
    let server = Script::start(answering(OK));
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is text").to_owned();
    for name in ["a.json", "b.json"] {
        let run = ended(&["-n", "500", "-c", "2", "-q", &server.url(), "--json", "-"], 0);
        let mut run: serde_json::Value = serde_json::from_str(&run.stdout).expect("it is JSON");
        forget_validity(&mut run);
        std::fs::write(path(name), run.to_string()).expect("a file can be written");
    }
    let compared =
        torr(&["compare", &path("a.json"), &path("b.json"), "--json", &path("c.json"), "--report", &path("c.html")]);
    assert!([Some(0), Some(4)].contains(&compared.code), "one result each tells little: {compared:?}");
    let page = read(Path::new(&path("c.html")));
    is_page(&page, &["A and B", "a comparison of two versions", "torr compare"]);
    assert_eq!(ended(&["report", &path("c.json"), "-o", "-"], 0).stdout.replace(&path("c.json"), "this run"), page);
}
