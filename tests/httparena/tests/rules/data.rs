//! Made-up data of the contest's shape: 50 items, and 20 files of which the 15 of text have precompressed siblings.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Names of files with their sizes in bytes, from the smallest to the largest of the contest.
pub const FILES: [(&str, usize); 20] = [
    ("reset.css", 2_900),
    ("layout.css", 18_000),
    ("theme.css", 31_000),
    ("components.css", 98_000),
    ("print.css", 4_100),
    ("app.js", 200_000),
    ("vendor.js", 307_000),
    ("router.js", 26_000),
    ("charts.js", 154_000),
    ("analytics.js", 12_000),
    ("index.html", 6_000),
    ("logo.svg", 3_300),
    ("icons.svg", 70_000),
    ("manifest.json", 3_000),
    ("translations.json", 120_000),
    ("regular.woff2", 44_000),
    ("bold.woff2", 45_000),
    ("hero.webp", 210_000),
    ("small.webp", 9_000),
    ("photo.webp", 99_000),
];

/// Writes `dataset.json`.
pub fn write_items(folder: &Path) {
    fs::write(folder.join("dataset.json"), items().to_string()).expect("a file can be written");
}

/// Makes a folder with the files.
pub fn write_files(folder: &Path) {
    fs::create_dir(folder).expect("a folder can be made");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("a file can be written");
    for (name, size) in FILES {
        let bytes = bytes(name, size);
        write(name, &bytes);
        if !is_binary(name) {
            write(&format!("{name}.gz"), &gzip(&bytes));
            write(&format!("{name}.br"), &brotli(&bytes));
        }
    }
}

/// Returns the 50 items.
pub fn items() -> Value {
    let item = |id: i64| {
        let rating = json!({ "score": id % 5 + 1, "count": id * 11 });
        json!({
            "id": id, "name": format!("Item \u{e9} \"{id}\""), "category": "electronics", "price": id * 37 % 491 + 1,
            "quantity": id * 13 % 29 + 1, "active": id % 3 != 0, "tags": ["fast", "new"], "rating": rating,
        })
    };
    (1..=50).map(item).collect()
}

/// Returns whether a file has no precompressed siblings.
pub fn is_binary(name: &str) -> bool {
    name.ends_with(".woff2") || name.ends_with(".webp")
}

/// Returns the content of a file, which is its own and can be compressed.
pub fn bytes(name: &str, size: usize) -> Vec<u8> {
    let lines = (0..).flat_map(|number| format!("{name} {number}\n").into_bytes());
    lines.take(size).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory can be written to")
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 1, 20);
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.into_inner()
}
