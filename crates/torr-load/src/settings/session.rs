//! What only sessions have.

use crate::field::{file, texts};
use crate::setting::{Kind, Merge, Part, Reads, Secret, Setting, Times, setting};

const FILES: &str = "use it with a hurl file, as in 'torr checkout.hurl'; for a URL use placeholders and --feeder";
const HURL: &str = "use it with a hurl file, as in 'torr checkout.hurl'";

pub const ROWS: &[Setting] = &[
    setting(Part::Variables, "variable", Kind::Text("NAME=VALUE"), texts!(session.variables.variables))
        .times(Times::Many)
        .help("Set a variable; can be repeated")
        .secret(Secret::Parameters)
        .merge(Merge::Adds)
        .not_for_urls(FILES),
    setting(Part::Variables, "variables-file", Kind::Path("FILE"), texts!(session.variables.variables_file))
        .times(Times::Many)
        .help("Read variables from this file, one NAME=VALUE per line; can be repeated")
        .reads(Reads::File)
        .merge(Merge::Adds)
        .not_for_urls(FILES),
    setting(Part::Variables, "secret", Kind::Text("NAME=VALUE"), texts!(session.variables.secrets))
        .times(Times::Many)
        .help("Set a variable whose value is hidden in all output; can be repeated")
        .secret(Secret::Whole("TORR_SECRET"))
        .merge(Merge::Adds)
        .not_for_urls(FILES),
    setting(Part::Session, "setup", Kind::Path("FILE"), file!(session.setup))
        .help("Run this hurl file once before the load; its captures are variables of every session")
        .reads(Reads::File)
        .not_for_urls(FILES)
        .not_for_scripts(HURL),
    setting(Part::Session, "teardown", Kind::Path("FILE"), file!(session.teardown))
        .help("Run this hurl file once after the load")
        .reads(Reads::File)
        .not_for_urls(FILES)
        .not_for_scripts(HURL),
];
