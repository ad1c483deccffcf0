//! The plot: a bar for each way, made of its parts, as SVG that is read on light pages and dark ones.

use super::parts::{PARTS, Row};
use super::report::Profile;

/// The whole, in pixels.
const WIDTH: f64 = 760.0;
/// Where bars begin: left of them are the ways' names.
const LEFT: f64 = 84.0;
/// Where the longest bar ends: right of it is its sum.
const RIGHT: f64 = 690.0;
const BAR: f64 = 22.0;
const STEP: f64 = 28.0;
/// A database's title, with the space above it.
const TITLE: f64 = 34.0;
/// What a digit takes in the bars' letters.
const DIGIT: f64 = 6.2;
/// Parts beside each other in the legend.
const IN_A_ROW: usize = 6;
const HEADLINE: &str = "Where each way to a database spends its time";

/// Draws the profiles, which are in the order of their databases.
pub fn svg(profiles: &[Profile]) -> String {
    let longest = profiles.iter().map(|p| p.us_per_request()).fold(0.0, f64::max);
    let scale = (RIGHT - LEFT) / longest;
    let (legend, mut y) = legend(58.0);
    let mut bars = String::new();
    for of_database in profiles.chunk_by(|a, b| a.database == b.database) {
        y += TITLE;
        bars +=
            &format!("<text x=\"12\" y=\"{:.0}\" class=\"b\">{}</text>\n", y - 8.0, of_database[0].database.title());
        for profile in of_database {
            bars += &bar(profile, y, scale);
            y += STEP;
        }
    }
    let height = y + 8.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"t\" width=\"{WIDTH}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH} {height:.0}\">\n<title id=\"t\">{HEADLINE}</title>\n{STYLE}\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"24\" class=\"h\">{HEADLINE}</text>\n\
         <text x=\"12\" y=\"42\">one row as JSON: microseconds of the service's CPU time per request</text>\n\
         {legend}{bars}</svg>\n"
    )
}

/// Colours that depend on the page. What knows no such rules takes the attributes, which are for a light one.
const STYLE: &str = "<style>\n\
    text { font: 12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }\n\
    .h { font-size: 16px; font-weight: 600 } .b { font-weight: 600 } .n { font-size: 11px } .e { text-anchor: end }\n\
    .m { text-anchor: middle } .dark { fill: #000000 } .light { fill: #ffffff }\n\
    @media (prefers-color-scheme: dark) {\n  \
    .page { fill: #0d1117 } text { fill: #e6edf3 } .dark { fill: #000000 } .light { fill: #ffffff }\n}\n\
    </style>\n";

/// The parts with their colours, and where it ends.
fn legend(top: f64) -> (String, f64) {
    let step = (WIDTH - 24.0) / IN_A_ROW as f64;
    let entry = |(n, row): (usize, &Row)| {
        let (x, y) = (12.0 + (n % IN_A_ROW) as f64 * step, top + (n / IN_A_ROW) as f64 * 20.0);
        format!(
            "<rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{:.1}\" y=\"{:.0}\">{}</text>\n",
            hex(row.colour),
            x + 18.0,
            y + 10.5,
            row.name
        )
    };
    let rows = PARTS.len().div_ceil(IN_A_ROW) as f64;
    (PARTS.iter().enumerate().map(entry).collect(), top + rows * 20.0 - 8.0)
}

/// One way: its name, its parts with their microseconds where there is room, and its sum.
fn bar(profile: &Profile, y: f64, scale: f64) -> String {
    let baseline = y + BAR / 2.0 + 4.0;
    let mut text =
        format!("<text x=\"{:.0}\" y=\"{baseline:.0}\" class=\"e\">{}</text>\n", LEFT - 8.0, profile.short());
    let mut x = LEFT;
    for (row, us) in profile.parts().filter(|(_, us)| *us > 0.0) {
        let width = us * scale;
        text += &format!(
            "<rect x=\"{x:.2}\" y=\"{y:.0}\" width=\"{width:.2}\" height=\"{BAR}\" fill=\"{}\"><title>{}: {us:.2} us</title></rect>\n",
            hex(row.colour),
            row.name
        );
        let figure = format!("{us:.1}");
        if figure.len() as f64 * DIGIT + 1.0 <= width {
            let (middle, ink) = (x + width / 2.0, ink(row.colour));
            text += &format!("<text x=\"{middle:.1}\" y=\"{baseline:.0}\" class=\"n m {ink}\">{figure}</text>\n");
        }
        x += width;
    }
    text + &format!(
        "<text x=\"{:.1}\" y=\"{baseline:.0}\" class=\"b\">{:.1} µs</text>\n",
        x + 6.0,
        profile.us_per_request()
    )
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Letters that are read on a colour: dark ones on a bright one.
fn ink([red, green, blue]: [u8; 3]) -> &'static str {
    let brightness = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if brightness > 125.0 { "dark" } else { "light" }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::profile;
    use super::*;
    use crate::data::scenario::Group;

    #[test]
    fn a_bar_is_as_long_as_its_parts() {
        let svg = svg(&[profile(Group::SqliteMemory, "torr raw"), profile(Group::Mariadb, "torr model")]);
        let widths = svg.lines().filter(|line| line.contains("<title>") && line.starts_with("<rect"));
        let widths = widths.filter_map(|line| line.split("width=\"").nth(1)?.split('"').next()?.parse::<f64>().ok());
        assert_eq!(widths.collect::<Vec<_>>(), [242.4, 363.6, 242.4, 363.6]);
        assert!(svg.contains("class=\"n m light\">6.0</text>") && svg.contains(">10.0 µs</text>"), "{svg}");
        assert!(svg.contains("SQLite in memory") && svg.contains("MariaDB"));
        let page = roxmltree::Document::parse(&svg).expect("it is XML");
        assert_eq!(page.root_element().attribute("role"), Some("img"));
    }
}
