//! The tables and their rows: two of TechEmpower, and one of 100,000 items.

/// The number of rows of the table `world`, as TechEmpower's rules require.
pub const WORLD_ROWS: u32 = 10_000;

/// The messages of TechEmpower's fortunes, in the order of their ids, which begin at 1.
const FORTUNES: [&str; 12] = [
    "fortune: No such file or directory",
    "A computer scientist is someone who fixes things that aren't broken.",
    "After enough decimal places, nobody gives a damn.",
    "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
    "A computer program does what you tell it to do, not what you want it to do.",
    "Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen",
    "Any program that runs right is obsolete.",
    "A list is only as strong as its weakest link. — Donald Knuth",
    "Feature: A bug with seniority.",
    "Computers make very fast, very accurate mistakes.",
    "<script>alert(\"This should not be displayed in a browser alert box.\");</script>",
    "フレームワークのベンチマーク",
];

/// The table that lists Torr's tables, and which of them are filled.
pub(crate) const META_TABLE: &str = "torr_meta";

/// A table that Torr creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    World,
    Fortune,
    Item,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Int(i32),
    Text(String),
}

impl Table {
    pub(crate) const ALL: [Self; 3] = [Self::World, Self::Fortune, Self::Item];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::World => "world",
            Self::Fortune => "fortune",
            Self::Item => "item",
        }
    }

    /// Returns the column definitions for `CREATE TABLE`, equal in all databases.
    pub(crate) fn definition(self) -> &'static str {
        match self {
            Self::World => "id INTEGER NOT NULL PRIMARY KEY, randomNumber INTEGER NOT NULL",
            Self::Fortune => "id INTEGER NOT NULL PRIMARY KEY, message VARCHAR(2048) NOT NULL",
            Self::Item => "id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, number INTEGER NOT NULL",
        }
    }

    pub(crate) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::World => &["id", "randomNumber"],
            Self::Fortune => &["id", "message"],
            Self::Item => &["id", "name", "number"],
        }
    }

    /// Returns the number of rows; `items` is that of the table `item`.
    pub(crate) fn rows(self, items: u32) -> u32 {
        match self {
            Self::World => WORLD_ROWS,
            Self::Fortune => FORTUNES.len() as u32,
            Self::Item => items,
        }
    }

    /// Returns the row with an id, equal in every database.
    pub(crate) fn row(self, id: u32) -> Vec<Cell> {
        let key = Cell::Int(id as i32);
        match self {
            Self::World => vec![key, Cell::Int(number(id))],
            Self::Fortune => vec![key, Cell::Text(FORTUNES[id as usize - 1].to_owned())],
            Self::Item => vec![key, Cell::Text(format!("Item {id:06}")), Cell::Int(number(!id))],
        }
    }

    /// Returns the `INSERT` statement for a number of rows, with placeholders.
    pub(crate) fn insert(self, rows: usize, placeholder: impl Fn(usize) -> String) -> String {
        let columns = self.columns();
        let row = |n: usize| {
            let marks: Vec<_> = (0..columns.len()).map(|column| placeholder(n * columns.len() + column + 1)).collect();
            format!("({})", marks.join(", "))
        };
        let rows: Vec<_> = (0..rows).map(row).collect();
        format!("INSERT INTO {} ({}) VALUES {}", self.name(), columns.join(", "), rows.join(", "))
    }
}

/// Returns a pseudo-random number from 1 to 10,000 that depends only on the id (the finaliser of SplitMix64).
fn number(id: u32) -> i32 {
    let mut x = u64::from(id).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) % 10_000) as i32 + 1
}
