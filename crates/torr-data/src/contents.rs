//! What the tables hold: TechEmpower's two, and the documents' one of 100,000 rows.

/// Rows of `world`, as TechEmpower has it.
pub const WORLD_ROWS: u32 = 10_000;

/// TechEmpower's fortunes, by their ids from 1.
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

/// The table that says which others are Torr's, and which of them are filled.
pub(crate) const MARKS: &str = "torr_meta";

/// A table of Torr's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    World,
    Fortune,
    Item,
}

/// A value to be bound.
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

    /// The columns as a database is told of them; names are the same in all, types too.
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

    /// How many rows it is to have.
    pub(crate) fn rows(self, items: u32) -> u32 {
        match self {
            Self::World => WORLD_ROWS,
            Self::Fortune => FORTUNES.len() as u32,
            Self::Item => items,
        }
    }

    /// The row with this id, the same in every database.
    pub(crate) fn row(self, id: u32) -> Vec<Cell> {
        let key = Cell::Int(id as i32);
        match self {
            Self::World => vec![key, Cell::Int(number(id))],
            Self::Fortune => vec![key, Cell::Text(FORTUNES[id as usize - 1].to_owned())],
            Self::Item => vec![key, Cell::Text(format!("Item {id:06}")), Cell::Int(number(!id))],
        }
    }

    /// `INSERT` of so many rows, with placeholders.
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

/// A number from 1 to 10,000 that looks random and depends on the id alone (the finaliser of SplitMix64).
fn number(id: u32) -> i32 {
    let mut x = u64::from(id).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) % 10_000) as i32 + 1
}
