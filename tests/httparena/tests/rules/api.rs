//! The profiles api-4 and api-16, which are one mix on different machines.

use crate::curl::get;
use crate::json::{is_page, is_plain};
use crate::{baseline, database};

/// Checks the parts of the mix.
pub fn check() {
    let application = database::start();
    baseline::sums(&application);
    is_plain(&application, &[(12, 3), (22, 7), (31, 2), (50, 5)]);
    is_page(&get(&application.http("/json/50?m=1")), 50, 1);
    database::ranges(&application);
}
