//! The same tests for a cache in memory and for one in a private Redis; and what only one of them can do.

mod capacity;
mod failures;
mod place;
mod redis_only;
mod refused;
mod values;
mod worlds;

/// Makes a test of each function for each kind of place.
#[macro_export]
macro_rules! everywhere {
    ($($test:ident),* $(,)?) => {
        mod memory {
            $(#[test]
            fn $test() {
                super::$test($crate::place::Place::memory());
            })*
        }
        mod in_redis {
            $(#[test]
            fn $test() {
                super::$test($crate::place::Place::redis());
            })*
        }
    };
}
