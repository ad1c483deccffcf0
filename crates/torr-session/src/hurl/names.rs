//! Tables of names: one for reading and for writing.

/// Returns the name of an item of a table; an empty one for what the table has not.
pub(super) fn name_of<T: PartialEq>(table: &[(&'static str, T)], item: &T) -> &'static str {
    table.iter().find(|(_, known)| known == item).map_or("", |(name, _)| name)
}

/// Returns the names of a table for a message: `A, B or C`.
pub(super) fn names<T>(table: &[(&str, T)]) -> String {
    let names: Vec<_> = table.iter().map(|(name, _)| *name).collect();
    let (last, others) = names.split_last().expect("no table is empty");
    format!("{} or {last}", others.join(", "))
}
