//! Tests of a cache in memory and of one in a private Redis, and tests of what only one of them can do.

mod capacity;
mod failures;
mod fixture;
mod redis_only;
mod refused;
mod values;
mod worlds;

/// Defines a test of each function on each kind of cache.
#[macro_export]
macro_rules! on_all {
    ($($test:ident),* $(,)?) => {
        mod memory {
            $(#[test]
            fn $test() {
                super::$test($crate::fixture::Fixture::memory());
            })*
        }
        mod in_redis {
            $(#[test]
            fn $test() {
                super::$test($crate::fixture::Fixture::redis());
            })*
        }
    };
}
