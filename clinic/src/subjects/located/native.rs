//! Faults with a location in C, Rust and Go.

use crate::environment::shops::{C, GO, RUST, Shop};
use crate::location::Location;
use crate::subject::{Start, Subject};
use torr_gauge::Factor::{Lock, Pool, ServerCpu};

/// Returns a subject whose function takes most of the CPU time.
fn busy(name: &'static str, compiler: &'static [&'static str], start: Start, cured: Start) -> Subject {
    Subject::fault(name, ServerCpu, start).cured(cured).needs(compiler)
}

pub fn subjects() -> Vec<Subject> {
    vec![
        busy(
            "where-c-quote",
            &["cc"],
            |env| env.shop(Shop::C, "quote", &[]),
            |env| env.shop(Shop::C, "quote", &[("RULES", "40000")]),
        )
        .at(Location::cpu(C, &["discount_of"], "quote")),
        busy(
            "where-c-receipt",
            &["cc"],
            |env| env.shop(Shop::C, "receipt", &[]),
            |env| env.shop(Shop::C, "receipt", &[("CHECKED", "16000")]),
        )
        .at(Location::cpu(C, &["check_digits"], "receipt")),
        Subject::fault("where-c-stock", Lock, |env| env.shop(Shop::C, "stock", &[]))
            .cured(|env| env.shop(Shop::C, "stock", &[("HELD_US", "1000")]))
            .needs(&["cc"])
            .at(Location::lock(C, &["stock_page", "ask_supplier"], &["stock", "stock-held"]).named("stock_lock")),
        Subject::fault("where-c-label", Pool, |env| env.shop(Shop::C, "label", &[]))
            .cured(|env| env.shop(Shop::C, "label", &[("PRINTERS", "6")]))
            .needs(&["cc"])
            .at(Location::lock(C, &["label", "print_label"], &["label", "label-held"])
                .named("printers")
                .cured_as_advised()),
        busy(
            "where-rust-search",
            &["rustc"],
            |env| env.shop(Shop::Rust, "search", &[]),
            |env| env.shop(Shop::Rust, "search", &[("SEARCHED", "10000")]),
        )
        .at(Location::cpu(RUST, &["has_word"], "search")),
        busy(
            "where-rust-bestsellers",
            &["rustc"],
            |env| env.shop(Shop::Rust, "bestsellers", &[]),
            |env| env.shop(Shop::Rust, "bestsellers", &[("SORTED", "860")]),
        )
        .at(Location::cpu(RUST, &["by_sales"], "bestsellers")),
        Subject::fault("where-rust-stock", Lock, |env| env.shop(Shop::Rust, "stock", &[]))
            .cured(|env| env.shop(Shop::Rust, "stock", &[("HELD_US", "1000")]))
            .needs(&["rustc"])
            .at(Location::lock(RUST, &["stock", "ask_supplier"], &["stock", "stock-held"])),
        busy(
            "where-go-page",
            &["go"],
            |env| env.shop(Shop::Go, "page", &[]),
            |env| env.shop(Shop::Go, "page", &[("PARTIALS", "4")]),
        )
        .at(Location::cpu(GO, &["renderPartial"], "page")),
        busy(
            "where-go-signup",
            &["go"],
            |env| env.shop(Shop::Go, "signup", &[]),
            |env| env.shop(Shop::Go, "signup", &[("RULES", "20")]),
        )
        .at(Location::cpu(GO, &["isAllowed"], "signup")),
        busy(
            "where-go-orders",
            &["go"],
            |env| env.shop(Shop::Go, "orders", &[]),
            |env| env.shop(Shop::Go, "orders", &[("LISTED", "50")]),
        )
        .at(Location::cpu(GO, &["listOrders"], "orders")),
        Subject::fault("where-go-reserve", Lock, |env| env.shop(Shop::Go, "reserve", &[]))
            .cured(|env| env.shop(Shop::Go, "reserve", &[("HELD_US", "1000")]))
            .needs(&["go"])
            .at(Location::lock(GO, &["reserve", "askSupplier"], &["reserve", "reserve-held"]).named("cartLock")),
        Subject::fault("where-go-label", Pool, |env| env.shop(Shop::Go, "label", &[]))
            .cured(|env| env.shop(Shop::Go, "label", &[("PRINTERS", "6")]))
            .needs(&["go"])
            .at(Location::lock(GO, &["label", "printLabel"], &["label", "label-held"])
                .named("printers")
                .cured_as_advised()),
    ]
}
