//! Columns that line up, whatever colours are in them.

/// Lays out rows of cells: the first column to the left, the others to the right, two spaces between.
pub fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| visible(cell)).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[at] - visible(cell));
            match at {
                0 => line.extend([cell.as_str(), &padding]),
                _ => line.extend(["  ", &padding, cell]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The width on screen, escape sequences left out.
fn visible(cell: &str) -> usize {
    anstream::adapter::strip_str(cell).to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style;

    #[test]
    fn colours_take_no_room() {
        let rows =
            vec![vec!["a".into(), style::paint(style::BAD, "1")], vec!["bbb".into(), "22".into()], vec!["c".into()]];
        let plain = anstream::adapter::strip_str(&align(&rows)).to_string();
        assert_eq!(plain, "a     1\nbbb  22\nc\n");
    }
}
