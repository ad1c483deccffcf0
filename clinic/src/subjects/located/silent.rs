//! Services of which no location can be named: several are equal, or the one is not visible.

use crate::environment::shops::{C, GO, JAVA, POSTGRES, Shop};
use crate::location::Location;
use crate::subject::{Start, Subject};
use torr_gauge::Factor::{self, Database, Lock, ServerCpu, SingleCore};

/// Returns a subject with six functions that are equally expensive.
fn equal(name: &'static str, factor: Factor, programs: &'static [&'static str], start: Start) -> Subject {
    Subject::fault(name, factor, start).needs(programs).at(Location::none())
}

pub fn subjects() -> Vec<Subject> {
    vec![
        equal("where-c-equal", ServerCpu, &["cc"], |env| env.shop(Shop::C, "overview", &[])),
        equal("where-rust-equal", ServerCpu, &["rustc"], |env| env.shop(Shop::Rust, "overview", &[])),
        equal("where-go-equal", ServerCpu, &["go"], |env| env.shop(Shop::Go, "overview", &[])),
        equal("where-java-equal", ServerCpu, &["java", "javac"], |env| {
            env.permitted.push("--ask".into());
            env.shop(Shop::Java, "overview", &[])
        }),
        equal("where-node-equal", SingleCore, &["node"], |env| {
            env.permitted.push("--ask".into());
            env.shop(Shop::Node, "overview", &[])
        }),
        equal("where-python-equal", SingleCore, &["python3"], |env| env.shop(Shop::Python, "overview", &[])),
        Subject::fault("where-c-stripped", ServerCpu, |env| env.shop(Shop::StrippedC, "quote", &[]))
            .cured(|env| env.shop(Shop::StrippedC, "quote", &[("RULES", "40000")]))
            .needs(&["cc"])
            .at(Location::cpu(C, &["discount_of"], "quote").invisible()),
        // The linker keeps what Go's own stack traces need, but not the types by which goroutines are found.
        Subject::fault("where-go-stripped", Lock, |env| env.shop(Shop::StrippedGo, "reserve", &[]))
            .cured(|env| env.shop(Shop::StrippedGo, "reserve", &[("HELD_US", "1000")]))
            .needs(&["go"])
            .at(Location::lock(GO, &["reserve", "askSupplier"], &["reserve", "reserve-held"]).invisible()),
        Subject::fault("where-java-unasked", ServerCpu, |env| env.shop(Shop::Java, "table", &[]))
            .cured(|env| env.shop(Shop::Java, "table", &[("ROWS", "200")]))
            .compiled_late()
            .needs(&["java", "javac"])
            .at(Location::cpu(JAVA, &["row"], "table").invisible()),
        // Nothing is recorded of a Unix socket, and without a login there are no statements.
        Subject::fault("where-postgres-unix", Database, |env| env.shop_before_unix("history", &[]))
            .cured(|env| env.shop_before_unix("history", &[("STORED", "30000")]))
            .needs(&["go", "postgres", "initdb"])
            .at(Location::statement("FROM orders WHERE customer_id = ?", POSTGRES, &["history"], &["history"])
                .invisible()),
    ]
}
