//! Figures that the source documents give, to stand beside those measured here.

use serde::Serialize;
use torr_report::human;

/// The systems, with the machines that their figures come from.
pub const MACHINES: [(&str, &str); 3] = [
    ("webman", "its own figures: 4 cores, 4 GB, 16 processes, local or over a LAN"),
    ("Drogon", "its own figures: 2 x Xeon E5-2670, 16 threads for each side on one machine"),
    ("nginx", "measured by Drogon's authors on the same machine, 16 workers"),
];

/// A range of requests per second that a system has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reference {
    pub system: &'static str,
    pub least: u32,
    pub most: u32,
}

impl Reference {
    /// In thousands.
    pub fn range(&self) -> String {
        if self.least == self.most {
            return human::rate(f64::from(self.most));
        }
        let thousands = |n: u32| human::count(u64::from(n) / 1000);
        format!("{}-{}k", thousands(self.least), thousands(self.most))
    }
}

/// What the documents have for a row of 100,000 in MySQL on the same machine, by ways of the same kind. Over connections
/// that are not kept alive they have one query only, and no way of it.
pub fn query(way: &str, keep_alive: bool) -> Vec<Reference> {
    let (system, rate) = match (way, keep_alive) {
        ("raw", true) => ("PDO", 17_800),
        ("builder", true) => ("Laravel's builder", 9_400),
        ("model", true) => ("Laravel's model", 7_200),
        ("raw", false) => ("one query", 10_000),
        _ => return vec![],
    };
    vec![Reference { system, least: rate, most: rate }]
}

/// What the documents have for the page.
pub fn hello(connections: usize, keep_alive: bool) -> Vec<Reference> {
    let webman = if keep_alive { (80_000, 160_000) } else { (10_000, 30_000) };
    let (drogon, nginx) = match (connections, keep_alive) {
        (100, true) => ((552_000, 561_000), (329_000, 330_000)),
        (1000, true) => ((565_000, 573_000), (327_000, 333_000)),
        (100, false) => ((135_000, 140_000), (31_000, 49_000)),
        (1000, false) => ((143_000, 155_000), (50_000, 52_000)),
        _ => return vec![],
    };
    let reference = |system, (least, most)| Reference { system, least, most };
    vec![reference("webman", webman), reference("Drogon", drogon), reference("nginx", nginx)]
}
