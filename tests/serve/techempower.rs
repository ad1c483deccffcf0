//! TechEmpower's rules for the tests that ask a database, on each database and by each way.

use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use tempfile::TempDir;
use torr_test_support::client::ClientResponse;
use torr_test_support::databases::{Make, Outside, shared};
use torr_test_support::metrics::Metrics;
use torr_test_support::program::torr_json;
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::Serve;

/// The page, with each character that HTML gives a meaning written as another entity would be.
const FORTUNES: &str = include_str!("fortunes.html");

struct Source {
    url: String,
    args: &'static [&'static str],
    _folder: Option<TempDir>,
}

impl Source {
    fn memory() -> Self {
        Self { url: "sqlite::memory:".into(), args: &[], _folder: None }
    }

    fn file() -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        Self { url: format!("sqlite:{}", folder.path().join("w.db").display()), args: &[], _folder: Some(folder) }
    }

    fn at(make: Make, args: &'static [&'static str]) -> Self {
        Self { url: shared(make).new_database(), args, _folder: None }
    }

    fn serve(&self) -> Serve {
        Serve::start(&[&["--workers", "2", "--db-rows", "2500", "--database", &self.url], self.args].concat())
    }
}

/// Runs all tests on every database.
macro_rules! everywhere {
    ($($test:ident),* $(,)?) => {
        everywhere!(in_memory, Source::memory(), $($test),*);
        everywhere!(in_file, Source::file(), $($test),*);
        everywhere!(mariadb, Source::at(Make::MariaDb, &[]), $($test),*);
        everywhere!(postgres, Source::at(Make::Postgres, &[]), $($test),*);
        everywhere!(postgres_pipelined, Source::at(Make::Postgres, &["--db-pipelined", "true"]), $($test),*);
        everywhere!(mariadb_blocking, Source::at(Make::MariaDb, &["--db-mode", "blocking"]), $($test),*);
    };
    ($module:ident, $source:expr, $($test:ident),*) => {
        mod $module {
            use super::*;

            $(#[test]
            fn $test() {
                super::$test($source);
            })*
        }
    };
}

everywhere!(one_row, rows, fortunes, updates, the_documents_row);

/// The responses of a path by each way, and by the path without one.
fn by_each_way(serve: &Serve, path: &str) -> Vec<ClientResponse> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut client = serve.client();
    let mut ask = |path: String| client.get(&format!("{path}?{query}"));
    ["", "/raw", "/builder", "/model"].map(|way| ask(format!("{path}{way}"))).into()
}

/// What every response must have.
fn sound(response: &ClientResponse, content_type: &str) {
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.field("Content-Type"), Some(content_type), "{response:?}");
    let date = response.field("Date").expect("it has a date");
    assert!(date.ends_with(" GMT") && response.field("Server").is_some(), "{response:?}");
    assert_eq!(response.field("Content-Length"), Some(&*response.body.len().to_string()), "{response:?}");
    assert_eq!(response.field("Content-Encoding"), None, "{response:?}");
}

fn json(response: &ClientResponse) -> Value {
    sound(response, "application/json");
    serde_json::from_slice(&response.body).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

/// A World's id and number.
fn world(value: &Value) -> (i64, i64) {
    let object = value.as_object().expect("it is an object");
    let (id, number) = (value["id"].as_i64(), value["randomNumber"].as_i64());
    assert_eq!(object.len(), 2, "{value}");
    let (id, number) = (id.expect("it has an id"), number.expect("it has a number"));
    assert!((1..=10_000).contains(&id) && (1..=10_000).contains(&number), "{value}");
    (id, number)
}

fn worlds(response: &ClientResponse) -> Vec<(i64, i64)> {
    json(response).as_array().expect("it is a list").iter().map(world).collect()
}

fn one_row(source: Source) {
    let serve = source.serve();
    let mut client = serve.client();
    let ids: BTreeSet<_> = (0..20).map(|_| world(&json(&client.get("/db"))).0).collect();
    assert!(ids.len() > 10, "rows are random: {ids:?}");
}

fn rows(source: Source) {
    let serve = source.serve();
    for (query, rows) in
        [("", 1), ("queries=", 1), ("queries=foo", 1), ("queries=0", 1), ("queries=-3", 1), ("queries=2", 2)]
            .into_iter()
            .chain([
                ("a=b&queries=20", 20),
                ("queries=501", 500),
                ("queries=99999999999999999999", 500),
                ("queries=2x", 1),
            ])
    {
        for response in by_each_way(&serve, &format!("/queries?{query}")) {
            let worlds = worlds(&response);
            assert_eq!(worlds.len(), rows, "{query}");
            let different: BTreeSet<_> = worlds.iter().map(|(id, _)| id).collect();
            assert!(different.len() * 10 > rows * 8, "{query}: rows are random, not the same one again: {worlds:?}");
        }
    }
    assert_eq!(worlds(&serve.client().get("/queries/?queries=5")).len(), 5, "as the rules write it");
}

fn fortunes(source: Source) {
    let serve = source.serve();
    // Some write the entities by names, some by numbers.
    let entity = Regex::new("&#(x?)([0-9a-f]+);").expect("it is a pattern");
    for response in by_each_way(&serve, "/fortunes") {
        sound(&response, "text/html; charset=utf-8");
        let same = entity.replace_all(response.text(), |number: &regex::Captures<'_>| {
            let radix = if number[1].is_empty() { 10 } else { 16 };
            match u32::from_str_radix(&number[2], radix) {
                Ok(34) => "&quot;",
                Ok(38) => "&amp;",
                Ok(39) => "&apos;",
                Ok(60) => "&lt;",
                Ok(62) => "&gt;",
                other => panic!("another character: {other:?}"),
            }
        });
        assert_eq!(same, FORTUNES.trim_end());
    }
}

fn updates(source: Source) {
    let serve = source.serve();
    let in_memory = source.url == "sqlite::memory:";
    let mut outside = (!in_memory).then(|| Outside::new(&source.url));
    for path in ["/updates", "/updates/raw", "/updates/builder", "/updates/model"] {
        for (query, rows) in [("queries=", 1), ("queries=20", 20), ("queries=0", 1), ("queries=501", 500)] {
            let worlds = worlds(&serve.client().get(&format!("{path}?{query}")));
            assert_eq!(worlds.len(), rows, "{query}");
            let ids: BTreeSet<_> = worlds.iter().map(|(id, _)| id).collect();
            assert_eq!(ids.len(), rows, "{query}: each row comes once");
            for (id, number) in worlds.iter().take(20) {
                let Some(outside) = &mut outside else { continue };
                let sql = format!("SELECT CAST(randomnumber AS {}) FROM world WHERE id = {id}", outside.wide_integer());
                assert_eq!(outside.number(&sql), *number, "{path}: what it says is what it has written");
            }
        }
    }
    if in_memory {
        // All rows come to be read again: 500 of them hold what was written.
        let written = worlds(&serve.client().get("/updates?queries=500"));
        let mut client = serve.client();
        let read: BTreeSet<_> = (0..60).flat_map(|_| worlds(&client.get("/queries?queries=500"))).collect();
        let seen: Vec<_> = written.iter().filter(|row| read.iter().any(|(id, _)| *id == row.0)).collect();
        assert!(seen.len() > 400, "30,000 of 10,000 rows meet nearly all");
        assert!(seen.iter().all(|row| read.contains(row)), "what it says is what it has written");
    }
}

fn the_documents_row(source: Source) {
    let serve = source.serve();
    let mut client = serve.client();
    for way in ["raw", "builder", "model"] {
        let row = json(&client.get(&format!("/db/{way}")));
        let id = row["id"].as_i64().expect("it has an id");
        assert!((1..=2500).contains(&id), "{row}");
        assert_eq!(row["name"], format!("Item {id:06}"));
        assert!((1..=10_000).contains(&row["number"].as_i64().expect("it has a number")));
        assert_eq!(row.as_object().map(|row| row.len()), Some(3));
    }
}

/// Under the load of the rules: each row of a response has its own SELECT.
#[test]
fn each_row_is_a_query_of_its_own() {
    const ROWS: u64 = 20;
    let server = torr_test_support::databases::Server::start(Make::MariaDb);
    let url = server.new_database();
    let serve =
        Serve::start(&["--workers", "2", "--db-rows", "100", "--db-acquire-timeout", "60s", "--database", &url]);
    let mut outside = Outside::new(&url);
    let opened = || Metrics::parse(serve.client().get("/metrics").text()).of("torr_database_connections_opened_total");
    let mut executed = || {
        outside.number(
            "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                                          WHERE variable_name = 'COM_STMT_EXECUTE'",
        ) as u64
    };
    for path in ["raw", "builder", "model"].map(|way| serve.url(&format!("/queries/{way}?queries={ROWS}"))) {
        // A new connection has statements of its own: so once in a run that opens none.
        let once = || {
            let (before, opened_before) = (executed(), opened());
            let run = torr_json(&[&path, "-c", "512", "-n", "512", "--timeout", "60s", "-q"]);
            adds_up(&run);
            assert_eq!(count(&run, "/status/200"), 512, "{run}");
            (opened() == opened_before).then(|| executed() - before)
        };
        let queries = std::iter::repeat_with(once).take(5).flatten().next();
        assert_eq!(queries, Some(512 * ROWS), "{path}");
    }
}
