//! The command lines of ab, wrk, httpress and `drogon_ctl press`: options mean the same however they are written, and what is taken
//! is within its bounds.
//!
//! Option: the lowest two bits choose the program. The bytes are arguments, with line ends between them.

mod getopt;

use crate::input::Input;
use getopt::{Options, getopt};
use std::ffi::OsString;
use std::fmt::Debug;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;
use torr_fronts::{UsageError, ab, httpress, press, wrk};
use torr_press::Target;

const AB: Options = Options {
    with_value: "nctsbBpuTmCHAPXvxyzegfEZ",
    alone: "krqidSlwIhV",
    long: &[],
    abbreviated: false,
    ends_at_first_operand: true,
};
const WRK: Options = Options {
    with_value: "cdtsHTR",
    alone: "LUBvh",
    long: &[
        ("connections", 'c'),
        ("duration", 'd'),
        ("threads", 't'),
        ("script", 's'),
        ("header", 'H'),
        ("latency", 'L'),
        ("timeout", 'T'),
        ("version", 'v'),
        ("rate", 'R'),
        ("u_latency", 'U'),
        ("batch_latency", 'B'),
        ("help", 'h'),
    ],
    abbreviated: true,
    ends_at_first_operand: false,
};
const HTTPRESS: Options =
    Options { with_value: "ntcz", alone: "kqh", long: &[], abbreviated: false, ends_at_first_operand: false };
const PRESS: Options = Options {
    with_value: "ntcf",
    alone: "kqh",
    long: &[("help", 'h')],
    abbreviated: false,
    ends_at_first_operand: false,
};

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::new(bytes);
    let args: Vec<_> = input.wire.split(|&byte| byte == b'\n').map(|arg| OsString::from_vec(arg.to_vec())).collect();
    match input.option & 3 {
        0 => {
            let Ok(ab::Parsed::Run(args)) = same(&AB, ab::parse, &args) else { return };
            assert!(args.concurrency >= 1 && args.concurrency <= args.requests, "{args:?}");
            let longest = Duration::from_secs(366 * 24 * 3600);
            assert!(args.timeout <= longest && args.duration.is_none_or(|duration| duration <= longest), "{args:?}");
            let _ = Target::parse(&args.url);
        }
        1 => {
            let Ok(wrk::Parsed::Run(args)) = same(&WRK, wrk::parse, &args) else { return };
            assert!(args.threads >= 1 && args.threads <= args.connections, "{args:?}");
            assert!(args.duration >= 1 && args.timeout >= 1 && args.rate != Some(0), "{args:?}");
            let _ = Target::parse(&args.url);
        }
        2 => {
            let Ok(Some(args)) = same(&HTTPRESS, httpress::parse, &args) else { return };
            assert!(args.threads >= 1 && args.threads <= args.connections, "{args:?}");
            assert!(args.connections <= args.requests, "{args:?}");
            let _ = Target::parse(&args.url);
        }
        _ => {
            let Ok(Some(args)) = same(&PRESS, press::parse, &args) else { return };
            assert!(args.threads >= 1 && args.connections >= 1 && args.requests >= 1, "{args:?}");
            let _ = Target::parse(&args.url);
        }
    }
}

/// Parses arguments, and the same with each option on its own as `getopt` finds them.
fn same<T: Debug + PartialEq>(
    options: &Options,
    parse: impl Fn(Vec<OsString>) -> Result<T, UsageError>,
    args: &[OsString],
) -> Result<T, UsageError> {
    let parsed = parse(args.to_vec());
    match getopt(options, args) {
        // Of several mistakes the first one is reported, and operands are behind all options here.
        Ok(apart) => assert_eq!(parsed.as_ref().ok(), parse(apart.clone()).ok().as_ref(), "{args:?} is {apart:?}"),
        // Help and version are printed as soon as an argument names them.
        Err(before) if before.iter().any(|option| "hV".contains(*option)) => {}
        Err(before) => assert!(parsed.is_err(), "{args:?} is taken, but only {before:?} are options: {parsed:?}"),
    }
    parsed
}
