//! Faults with a location in Java, Node.js and Python. A Java virtual machine and Node.js show their code only on request.

use crate::environment::Environment;
use crate::environment::shops::{JAVA, NODE, PROFILE, PYTHON, Shop};
use crate::location::Location;
use crate::subject::{Start, Subject};
use torr_gauge::Factor::{Lock, ServerCpu, SingleCore, Workers};
use torr_test_support::error::Error;

/// The programs of a shop in Java.
const JDK: &[&str] = &["java", "javac"];

/// Starts a shop in Java, and permits the doctor to request its stacks.
fn java(env: &mut Environment, page: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
    env.permitted.push("--ask".into());
    env.shop(Shop::Java, page, variables)
}

/// Starts a shop in Node.js, and permits the doctor to request its stacks.
fn node(env: &mut Environment, page: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
    env.permitted.push("--ask".into());
    env.shop(Shop::Node, page, variables)
}

/// Returns a subject in Node.js whose function takes most of the event loop's time.
fn in_node(name: &'static str, start: Start, cured: Start) -> Subject {
    Subject::fault(name, SingleCore, start).cured(cured).compiled_late().needs(&["node"])
}

/// Returns a subject in Python whose function takes most of the time of the interpreter's lock.
fn in_python(name: &'static str, start: Start, cured: Start) -> Subject {
    Subject::fault(name, SingleCore, start).cured(cured).needs(&["python3"])
}

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("where-java-table", ServerCpu, |env| java(env, "table", &[]))
            .cured(|env| java(env, "table", &[("ROWS", "200")]))
            .compiled_late()
            .needs(JDK)
            .at(Location::cpu(JAVA, &["row"], "table")),
        Subject::fault("where-java-check", ServerCpu, |env| java(env, "check", &[]))
            .cured(|env| java(env, "check", &[("CHECKED", "150")]))
            .compiled_late()
            .needs(JDK)
            .at(Location::cpu(JAVA, &["isAddress"], "check")),
        Subject::fault("where-java-tax", ServerCpu, |env| java(env, "tax", &[]))
            .cured(|env| java(env, "tax", &[("TAXED", "80")]))
            .compiled_late()
            .needs(JDK)
            .at(Location::cpu(JAVA, &["net"], "tax")),
        Subject::fault("where-java-rates", Lock, |env| java(env, "rates", &[]))
            .cured(|env| java(env, "rates", &[("HELD_US", "1000")]))
            .compiled_late()
            .needs(JDK)
            .at(Location::lock(JAVA, &["rate", "askBank"], &["rates", "rates-held"]).named("ratesLock")),
        in_node("where-node-login", |env| node(env, "login", &[]), |env| node(env, "login", &[("ITERATIONS", "1500")]))
            .at(Location::cpu(NODE, &["checkPassword"], "login")),
        in_node("where-node-cart", |env| node(env, "cart", &[]), |env| node(env, "cart", &[("COPIED", "250")]))
            .at(Location::cpu(NODE, &["copyOf"], "cart")),
        in_node("where-node-slug", |env| node(env, "slug", &[]), |env| node(env, "slug", &[("LETTERS", "16")]))
            .at(Location::cpu(NODE, &["isSlug"], "slug")),
        in_node("where-node-top", |env| node(env, "top", &[]), |env| node(env, "top", &[("RANKED", "760")]))
            // Its comparator, which has no name, has nearly all of the time.
            .at(Location::cpu(NODE, &["bySales", "(anonymous)"], "top")),
        in_python(
            "where-python-export",
            |env| env.shop(Shop::Python, "export", &[]),
            |env| env.shop(Shop::Python, "export", &[("EXPORTED", "400")]),
        )
        .at(Location::cpu(PYTHON, &["rounded"], "export")),
        in_python(
            "where-python-list",
            |env| env.shop(Shop::Python, "list", &[]),
            |env| env.shop(Shop::Python, "list", &[("LISTED", "150")]),
        )
        .at(Location::cpu(PYTHON, &["filled"], "list")),
        in_python(
            "where-python-cart",
            |env| env.shop(Shop::Python, "cart", &[]),
            |env| env.shop(Shop::Python, "cart", &[("IN_CART", "30")]),
        )
        .at(Location::cpu(PYTHON, &["article_of"], "cart")),
        Subject::fault("where-python-rates", Lock, |env| env.shop(Shop::Python, "rates", &[]))
            .cured(|env| env.shop(Shop::Python, "rates", &[("HELD_US", "2500")]))
            .needs(&["python3"])
            .at(Location::lock(PYTHON, &["rate", "ask_bank"], &["rates", "rates-held"]).named("RATES_LOCK")),
        Subject::fault("where-python-profile", Workers, |env| env.shop(Shop::Profile, "profile", &[]))
            .cured(|env| env.shop(Shop::Profile, "profile", &[("HELD_US", "2000")]))
            .needs(&["python3"])
            .at(Location::wait(PROFILE, &["read_profile", "profile"], &["profile", "profile-caller"])),
    ]
}
