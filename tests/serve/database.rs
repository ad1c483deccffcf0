//! `torr serve` with a database that fails: responses, log lines, and recovery.

use regex::Regex;
use serde_json::Value;
use std::cell::Cell;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use torr_test_support::client::{Client, ClientResponse};
use torr_test_support::databases::{Make, Outside, PASSWORD, Server, shared};
use torr_test_support::metrics::Metrics;
use torr_test_support::program::{Running, torr, torr_command, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::{Serve, closed_port, free_port};
use torr_test_support::wait_until;

const PATHS: [&str; 3] = ["/db/raw", "/queries/model?queries=3", "/updates/builder?queries=3"];

fn serve(url: &str, args: &[&str]) -> Serve {
    let workers: &[_] = if args.contains(&"--workers") { &[] } else { &["--workers", "2"] };
    Serve::start(&[workers, &["--db-rows", "1000", "--database", url], args].concat())
}

/// A failure as clients may see it: JSON with an id, and nothing of what is inside.
fn failure(response: &ClientResponse, status: u16) -> String {
    assert_eq!((response.status, response.field("Content-Type")), (status, Some("application/json")), "{response:?}");
    assert_eq!(response.field("Retry-After"), (status == 503).then_some("1"), "{response:?}");
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_else(|error| panic!("{error}: {response:?}"));
    let id = body["request_id"].as_str().expect("it has an id");
    assert_eq!(response.field("X-Request-Id"), Some(id));
    let inside = Regex::new("(?i)sql|postgres|maria|127\\.0|torr|refused|world|item|timeout").expect("it is a pattern");
    let kept = |(name, _): &&(String, String)| !["Server", "Date", "X-Request-Id"].contains(&name.as_str());
    let fields: String =
        response.fields.iter().filter(kept).map(|(name, value)| format!("{name}: {value}\n")).collect();
    let all = format!("{fields}{}", response.text().replace(id, ""));
    assert!(!inside.is_match(&all), "{all}");
    id.to_owned()
}

fn metrics(serve: &Serve) -> Metrics {
    Metrics::parse(serve.client().get("/metrics").text())
}

macro_rules! at_each {
    ($($test:ident),* $(,)?) => {
        at_each!(mariadb, Make::MariaDb, &[], $($test),*);
        at_each!(mariadb_blocking, Make::MariaDb, &["--db-mode", "blocking"], $($test),*);
        at_each!(postgres, Make::Postgres, &[], $($test),*);
        at_each!(postgres_pipelined, Make::Postgres, &["--db-pipelined", "true"], $($test),*);
    };
    ($module:ident, $make:expr, $args:expr, $($test:ident),*) => {
        mod $module {
            use super::*;

            $(#[test]
            fn $test() {
                super::$test($make, $args);
            })*
        }
    };
}

at_each!(a_database_goes_in_the_middle_of_a_run_and_comes_back, a_query_that_takes_too_long);

fn a_database_goes_in_the_middle_of_a_run_and_comes_back(make: Make, args: &[&str]) {
    let mut server = Server::start(make);
    let serve = serve(&server.new_database(), &[&["--db-connect-timeout", "3s"], args].concat());
    let mut client = serve.client();
    for path in PATHS {
        let run = Running::start(torr_command(&[&serve.url(path), "-c", "8", "-d", "60s", "-q", "--json", "-"]));
        // The requests for the metrics are answered with 200 as well.
        let looks = Cell::new(0.0);
        let answered = |status: &str| {
            let answered = metrics(&serve).or_none(&format!("torr_http_requests_total{{code=\"{status}\"}}"));
            looks.set(looks.get() + 1.0);
            if status == "200" { answered - looks.get() } else { answered }
        };
        let (good, bad) = (answered("200"), answered("503"));
        wait_until("answers", || (answered("200") > good + 20.0).then_some(()));
        server.kill();
        wait_until("failures", || (answered("503") > bad + 20.0).then_some(()));
        failure(&client.get(path), 503);
        assert_eq!(client.get("/healthz").status, 200, "all else goes on");
        server.start_again();
        let good = answered("200");
        wait_until("answers again", || (answered("200") > good + 20.0).then_some(()));
        run.signal("INT");
        let ended = run.wait();
        let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        adds_up(&result);
        let statuses: Vec<_> = result["status"].as_object().expect("it is a map").keys().cloned().collect();
        assert_eq!(statuses, ["200", "503"], "{path}: every request has its answer: {result}");
        let others = ["connect", "read", "write", "protocol", "timeout"].map(|kind| result["errors"][kind].as_u64());
        assert_eq!(others, [Some(0); 5], "{path}: no connection was lost: {result}");
    }
}

fn a_query_that_takes_too_long(make: Make, args: &[&str]) {
    let url = shared(make).new_database();
    let port = free_port().to_string();
    let listen = format!("127.0.0.1:{port}");
    let settings = ["--listen", &listen, "--workers", "1", "--db-rows", "1000", "--db-statement-timeout", "2s"];
    let server = Running::start(torr_command(&[&["serve", "--database", &url], &settings[..], args].concat()));
    wait_until("the server", || TcpStream::connect(&listen).ok());
    let mut client = Client::connect(&listen);
    assert_eq!(client.get("/queries?queries=2").status, 200);
    let mut outside = Outside::new(&url);
    outside.lock();
    let since = Instant::now();
    let ids = ["raw", "builder", "model"].map(|way| failure(&client.get(&format!("/queries/{way}?queries=2")), 503));
    let took = since.elapsed();
    assert!(took >= Duration::from_secs(6), "each was waited for: {took:?}");
    assert!(took < Duration::from_secs(15), "and not for long: {took:?}");
    outside.unlock();
    assert_eq!(client.get("/queries?queries=2").status, 200);
    server.signal("TERM");
    let ended = server.wait();
    for password in [PASSWORD.to_owned(), PASSWORD.replace(' ', "%20")] {
        assert!(!ended.stderr.contains(&password), "{ended:?}");
    }
    for id in ids {
        let line = ended.stderr.lines().find(|line| line.contains(&id)).unwrap_or_else(|| panic!("{id}: {ended:?}"));
        assert!(line.contains("TimedOut"), "{line}");
    }
}

#[test]
fn an_exhausted_pool_is_reported_and_counted_over_all_processes() {
    for make in [Make::MariaDb, Make::Postgres] {
        let url = shared(make).new_database();
        let settings = ["--db-pool-size", "1", "--db-acquire-timeout", "3s", "--db-statement-timeout", "30s"];
        let serve = serve(&url, &[&["--processes", "2", "--workers", "1"], &settings[..]].concat());
        assert_eq!(serve.client().get("/db").status, 200);
        let mut outside = Outside::new(&url);
        outside.lock();
        // More than there are processes, so that some meet.
        let mut clients: Vec<_> = (0..8).map(|_| serve.client()).collect();
        clients.iter_mut().for_each(|client| client.send(torr_test_support::client::get("/db")));
        let waiting = |metrics: &Metrics| metrics.of("torr_database_pool_waiting");
        wait_until("somebody waits", || (waiting(&metrics(&serve)) > 0.0).then_some(()));
        wait_until("nobody waits", || (waiting(&metrics(&serve)) == 0.0).then_some(()));
        outside.unlock();
        let responses: Vec<_> = clients.iter_mut().map(Client::response).collect();
        let refused: Vec<_> = responses.iter().filter(|response| response.status != 200).collect();
        assert!((6..8).contains(&refused.len()), "one for each process that took part is served: {responses:?}");
        refused.iter().for_each(|response| drop(failure(response, 503)));
        let metrics = metrics(&serve);
        let of = |name: &str| metrics.of(&format!("torr_database_{name}"));
        assert_eq!(of("pool_exhausted_total"), refused.len() as f64);
        assert_eq!(of("pool_waits_total"), refused.len() as f64);
        assert!(of("pool_wait_seconds_total") >= 3.0 * refused.len() as f64, "{metrics:?}");
        assert!((1.0..=2.0).contains(&of("connections_opened_total")), "{metrics:?}");
    }
}

#[test]
fn the_id_of_a_request_is_the_one_in_the_log_and_the_response() {
    let mut server = Server::start(Make::Postgres);
    let ids = ["--request-ids", "true", "--trusted-proxies", "loopback", "--db-connect-timeout", "3s"];
    let serve = serve(&server.new_database(), &ids);
    server.kill();
    let mut client = serve.client();
    client.send("GET /db/raw HTTP/1.1\r\nHost: x\r\nX-Request-Id: tea-7\r\n\r\n");
    assert_eq!(failure(&client.response(), 503), "tea-7");
}

#[test]
fn a_worker_process_that_dies_while_the_database_is_away_is_replaced() {
    let mut server = Server::start(Make::Postgres);
    let args = ["--processes", "2", "--workers", "1", "--db-connect-timeout", "3s"];
    let serve = serve(&server.new_database(), &args);
    assert_eq!(serve.client().get("/db").status, 200);
    server.kill();
    let workers = || torr_test_support::supervised::children(serve.pid());
    let before = workers();
    assert_eq!(before.len(), 2);
    let dies = *before.first().expect("there are two");
    torr_test_support::program::signal(dies, "KILL");
    wait_until("another worker", || (workers().len() == 2 && !workers().contains(&dies)).then_some(()));
    // Whichever worker has the connection.
    for _ in 0..20 {
        let mut client = serve.client();
        assert_eq!(client.get("/healthz").status, 200);
        failure(&client.get("/db"), 503);
    }
    server.start_again();
    wait_until("all workers to find it", || (0..20).all(|_| serve.client().get("/db").status == 200).then_some(()));
}

#[test]
fn a_password_is_not_said_back() {
    for (variable, value) in [
        ("TORR_SERVE_DATABASE", "mysql://u:s3cret@h/d\u{1}"),
        ("TORR_SERVE_DATABASE", "mysql://u:1?s3cret@h/d"),
        ("TORR_SERVE_CACHE", "redis://:s3cret@h/0\u{1}"),
        ("TORR_SERVE_CACHE", "redis://:1?s3cret@h/0"),
    ] {
        let mut command = torr_command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env(variable, value);
        let ended = Running::start(command).wait();
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(!ended.stderr.contains("s3cret") && ended.stderr.lines().count() == 1, "{ended:?}");
    }
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = folder.path().join("torr.toml");
    for line in ["database = mysql://u:s3cret@h/d", "cache = [\"s3cret\"]", "database = \"s3cret", "cache = 's3cret"] {
        std::fs::write(&file, line).expect("a file can be written");
        let ended = torr(&["serve", "--config", &file.display().to_string()]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(!ended.stderr.contains("s3cret"), "{ended:?}");
    }
}

#[test]
fn a_table_that_goes_is_a_500() {
    for make in [Make::MariaDb, Make::Postgres] {
        let url = shared(make).new_database();
        let serve = serve(&url, &[]);
        assert_eq!(serve.client().get("/db/raw").status, 200);
        Outside::new(&url).run("DROP TABLE item");
        failure(&serve.client().get("/db/raw"), 500);
        assert_eq!(serve.client().get("/healthz").status, 200);
    }
}

#[test]
fn invalid_databases_are_reported_in_one_line_before_serving() {
    let (postgres, mariadb) = (shared(Make::Postgres), shared(Make::MariaDb));
    let (foreign, nowhere) = (postgres.new_database(), format!("mysql://torr:secret@127.0.0.1:{}/x", closed_port()));
    Outside::new(&foreign).run("CREATE TABLE world (mine INTEGER)");
    for (url, code, words) in [
        ("oracle://u:secret@h/d", 2, &["use sqlite::memory:, sqlite:FILE, mysql://"][..]),
        (&*postgres.url_with("secret", "postgres"), 2, &["PostgreSQL at 127.0.0.1:", "password"]),
        (&*mariadb.url_with("secret", "mysql"), 2, &["MySQL at 127.0.0.1:", "denied"]),
        (&*postgres.url("nothing"), 2, &["PostgreSQL at 127.0.0.1:", "nothing"]),
        (&*mariadb.url("nothing"), 2, &["MySQL at 127.0.0.1:", "nothing"]),
        (&*nowhere, 3, &["MySQL at 127.0.0.1:"]),
        (&*foreign, 1, &["the table world was not created by Torr: use another database, or rename the table"]),
        ("sqlite:/nowhere/at all.db", 3, &["unable to open"]),
    ] {
        let ended = torr(&["serve", "--listen", "127.0.0.1:0", "--database", url]);
        let line = ended.stderr.strip_suffix('\n').unwrap_or_default();
        assert_eq!((ended.code, line.contains('\n')), (Some(code), false), "{url}: {ended:?}");
        let is_reported = words.iter().all(|word| line.contains(word));
        assert!(line.starts_with("torr: cannot use the database: ") && is_reported, "{url}: {line}");
        assert!(!line.contains("secret"), "{line}");
    }
    assert_eq!(Outside::new(&foreign).tables(), 1, "nothing was made");
}

#[test]
fn tables_of_a_file_are_filled_once() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let url = format!("sqlite:{}", folder.path().join("tables.db").display());
    let first = serve(&url, &["--processes", "2"]);
    let row = first.client().get("/db/raw");
    assert_eq!(row.status, 200, "{row:?}");
    let changed: Value = serde_json::from_slice(&first.client().get("/updates").body).expect("it is JSON");
    drop(first);
    let again = serve(&url, &[]);
    let id = &changed[0]["id"];
    let sql = format!("SELECT randomnumber FROM world WHERE id = {id}");
    assert_eq!(Outside::new(&url).number(&sql), changed[0]["randomNumber"].as_i64().expect("it is a number"));
    assert_eq!(again.client().get("/db/model").status, 200);
}

#[test]
fn the_embedded_database_is_there_without_a_word() {
    let serve = Serve::start(&["--workers", "2"]);
    let run = torr_json(&[&serve.url("/db/model"), "-c", "4", "-n", "200", "-q"]);
    adds_up(&run);
    assert_eq!(count(&run, "/status/200"), 200);
    assert_eq!(metrics(&serve).of("torr_database_pool_waits_total"), 0.0);
}
