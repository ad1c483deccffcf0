//! A candidate's responses, before it is measured: right in form and content, random, and updates are in the database.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::candidates::Candidate;
use super::database::Database;
use super::scenario::Operation;
use super::world::World;
use crate::floor::PAGE;
use crate::probe;
use torr_test_support::error::Error;

/// A row of the table of 100,000, as it is answered.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    id: i32,
    name: String,
    number: i32,
}

/// The number of requests for one row, which differs each time.
const REQUESTS: usize = 5;
/// The most characters of a wrong response that are shown.
const SHOWN: usize = 200;

/// Sends a running candidate the requests of its load; an error if a response is wrong.
pub fn check(candidate: &Candidate, port: u16, operation: Operation, database: &Database) -> Result<(), Error> {
    let path = candidate.path(operation);
    let wrong = |page: &str| Error::failed(format!("GET {path} gave {}", page.chars().take(SHOWN).collect::<String>()));
    if candidate.way.is_none() {
        let page = probe::page(port, &path)?;
        return if page == PAGE { Ok(()) } else { Err(wrong(&page)) };
    }
    let mut seen = BTreeSet::new();
    for _ in 0..REQUESTS {
        let page = probe::page(port, &path)?;
        let ids = read(operation, &page).ok_or_else(|| wrong(&page))?;
        seen.extend(ids);
        if operation == Operation::Updates20 {
            database.check_written(&parsed::<Vec<World>>(&page).ok_or_else(|| wrong(&page))?)?;
        }
    }
    match operation == Operation::Fortunes || seen.len() > 1 {
        true => Ok(()),
        false => Err(Error::failed(format!("GET {path} gave the same row {REQUESTS} times"))),
    }
}

/// The ids of the rows in a response; none if it is not as it should be.
fn read(operation: Operation, page: &str) -> Option<Vec<i32>> {
    match operation {
        Operation::Item => {
            let item: Item = parsed(page)?;
            let right = (1..=100_000).contains(&item.id)
                && (1..=10_000).contains(&item.number)
                && item.name == format!("Item {:06}", item.id);
            right.then(|| vec![item.id])
        }
        Operation::Queries20 | Operation::Updates20 => {
            let worlds: Vec<World> = parsed(page)?;
            let right = |world: &World| [world.id, world.random_number].iter().all(|n| (1..=10_000).contains(n));
            (worlds.len() == 20 && worlds.iter().all(right)).then(|| worlds.iter().map(|world| world.id).collect())
        }
        Operation::Fortunes => {
            let texts = ["Additional fortune added at request time.", "script", "フレームワークのベンチマーク"];
            (texts.iter().all(|text| page.contains(text)) && !page.contains("<script>")).then(Vec::new)
        }
    }
}

fn parsed<T: DeserializeOwned>(page: &str) -> Option<T> {
    serde_json::from_str(page).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_right_responses_are_read() {
        let item = r#"{"id":7,"name":"Item 000007","number":9}"#;
        assert_eq!(read(Operation::Item, item), Some(vec![7]));
        for wrong in [&item.replace("000007", "000008"), &item.replace(":9", ":0"), &item[1..], "{}"] {
            assert_eq!(read(Operation::Item, wrong), None, "{wrong}");
        }
        let worlds = |n| format!("[{}]", vec![r#"{"id":3,"randomNumber":4}"#; n].join(","));
        assert_eq!(read(Operation::Queries20, &worlds(20)), Some(vec![3; 20]));
        assert_eq!(read(Operation::Updates20, &worlds(19)), None);
        assert_eq!(read(Operation::Updates20, &worlds(20).replace("N", "n")), None);
        let fortunes = "Additional fortune added at request time. &#60;script&#62; フレームワークのベンチマーク";
        assert_eq!(read(Operation::Fortunes, fortunes), Some(vec![]));
        assert_eq!(read(Operation::Fortunes, &fortunes.replace("&#60;script&#62;", "<script>")), None);
        assert_eq!(read(Operation::Fortunes, &fortunes[1..]), None);
    }
}
