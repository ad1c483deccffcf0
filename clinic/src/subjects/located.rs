//! Shops whose fault has a known location: a function, a lock or a statement.

mod managed;
mod native;
mod silent;
mod statements;

use crate::subject::Subject;

pub fn subjects() -> Vec<Subject> {
    let parts = [native::subjects, managed::subjects, statements::subjects, silent::subjects];
    parts.into_iter().flat_map(|part| part()).collect()
}

#[cfg(test)]
mod tests {
    use super::subjects;
    use crate::location::Visibility;

    #[test]
    fn each_subject_has_a_location_and_each_visible_one_has_lines() {
        let subjects = subjects();
        assert!(subjects.len() >= 40, "{}", subjects.len());
        let count = |visibility| {
            let locations = subjects.iter().filter_map(|subject| subject.label.location.as_ref());
            locations.filter(|location| location.visibility == visibility).count()
        };
        let (dominant, none) = (count(Visibility::Dominant), count(Visibility::None));
        assert_eq!((none, count(Visibility::Invisible)), (6, 4));
        assert_eq!(dominant + 10, subjects.len());
        for subject in &subjects {
            let location = subject.label.location.as_ref().expect("it was counted");
            let is_none = location.visibility == Visibility::None;
            assert_eq!(location.lines.is_empty(), is_none, "{}: its marks are in the source", subject.name);
            assert_eq!(location.functions.is_empty(), is_none, "{}", subject.name);
            assert!(subject.cured.is_some() != is_none, "{} has a cured form if it has a location", subject.name);
        }
    }
    #[test]
    fn the_readme_lists_each_subject_with_its_location() {
        let readme = include_str!("../../README.md");
        let subjects = subjects();
        for subject in &subjects {
            let location = subject.label.location.as_ref().expect("it has one").to_string();
            let name = location.split(" (").next().unwrap_or_default();
            let name = match name.strip_prefix("invisible: ") {
                Some(name) => format!("invisible: `{name}`"),
                None if name == "none" => name.to_owned(),
                None => format!("`{name}`"),
            };
            let factors: Vec<_> = subject.label.factors.iter().map(|factor| factor.name()).collect();
            let row = format!("\n| `{}` | {} | {name} |\n", subject.name, factors.join(", "));
            assert!(readme.contains(&row), "the README lacks the row{row}");
        }
        assert_eq!(readme.matches("\n| `where-").count(), subjects.len());
    }
}
