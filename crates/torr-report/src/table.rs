//! Aligned columns whose cells may have colours.

/// Lays out rows of cells: the first column left-aligned, the others right-aligned, with two spaces between columns.
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

/// Lays out rows of cells in at most `width` columns. Columns that do not fit follow in further blocks, each behind the
/// first column. The first row names the columns; a column without a name stays beside the column before it.
pub fn align_within(rows: &[Vec<String>], width: usize) -> String {
    if self::width(rows) <= width {
        return align(rows);
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let is_named = |column: &usize| rows[0].get(*column).is_some_and(|name| visible(name) > 0);
    let mut begins: Vec<_> = (1..columns).filter(is_named).collect();
    if begins.first() != Some(&1) {
        begins.insert(0, 1);
    }
    begins.push(columns);
    let (mut text, mut from) = (String::new(), 1);
    for two in begins.windows(2) {
        if two[0] > from && self::width(&part(rows, from, two[1])) > width {
            text += &align(&part(rows, from, two[0]));
            from = two[0];
        }
    }
    text + &align(&part(rows, from, columns))
}

/// Returns the width of laid out rows.
pub fn width(rows: &[Vec<String>]) -> usize {
    align(rows).lines().map(visible).max().unwrap_or(0)
}

/// Returns the first column and a range of columns, without the rows that are empty in the range.
fn part(rows: &[Vec<String>], from: usize, to: usize) -> Vec<Vec<String>> {
    let cells = |row: &Vec<String>| -> Vec<String> { row.iter().take(to).skip(from).cloned().collect() };
    let has_some = |row: &&Vec<String>| cells(row).iter().any(|cell| visible(cell) > 0);
    let first = |row: &Vec<String>| row.first().cloned().unwrap_or_default();
    rows.iter().filter(has_some).map(|row| [vec![first(row)], cells(row)].concat()).collect()
}

/// Returns the width on the terminal, without escape sequences.
pub(crate) fn visible(cell: &str) -> usize {
    anstream::adapter::strip_str(cell).to_string().chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style;

    #[test]
    fn colours_have_no_width() {
        let rows =
            vec![vec!["a".into(), style::paint(style::BAD, "1")], vec!["bbb".into(), "22".into()], vec!["c".into()]];
        let plain = anstream::adapter::strip_str(&align(&rows)).to_string();
        assert_eq!(plain, "a     1\nbbb  22\nc\n");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let rows =
            vec![row(&["", "p50", "p99", "", "max"]), row(&["a", "1 ms", "2 ms", "x", "3 ms"]), row(&["b", "1 us"])];
        assert_eq!(align_within(&rows, 80), align(&rows));
        assert_eq!(align_within(&rows, 16), "    p50   p99\na  1 ms  2 ms  x\nb  1 us\n    max\na  3 ms\n");
        assert_eq!(align_within(&rows, 1).lines().count(), 7, "a block for each column");
    }
}
