//! CPUs that are busy: one of them, all of them, or as much of them as a quota allows.

use crate::subject::Subject;
use torr_gauge::Factor::{CpuQuota, ServerCpu, SingleCore};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("single-core-loop", SingleCore, |bed| bed.patient(&["--server", "loop", "--work", "burn=1ms"])),
        Subject::fault("single-core-uvicorn", SingleCore, |bed| bed.uvicorn("compute", &[])).needs(&["uvicorn"]),
        Subject::fault("single-core-node", SingleCore, |bed| {
            bed.script("node", "server.js", include_str!("../../programs/server.js"), &["300"])
        })
        .needs(&["node"]),
        Subject::fault("single-core-torr", SingleCore, |bed| Ok(bed.torr_serve(&["--workers", "1"])? + "/cpu/500")),
        Subject::fault("server-cpu-torr", ServerCpu, |bed| Ok(bed.torr_serve(&[])? + "/cpu/2000")),
        Subject::fault("server-cpu-pool", ServerCpu, |bed| bed.patient(&["--server", "pool=8", "--work", "burn=2ms"])),
        Subject::fault("server-cpu-gunicorn", ServerCpu, |bed| {
            bed.gunicorn("compute", &["--workers", "4", "--threads", "4", "--keep-alive", "30"])
        })
        .needs(&["gunicorn"]),
        Subject::fault("cpu-quota-torr", CpuQuota, |bed| {
            bed.place = bed.quota(25)?;
            Ok(bed.torr_serve(&[])? + "/cpu/500")
        })
        .for_root(),
        Subject::fault("cpu-quota-pool", CpuQuota, |bed| {
            bed.place = bed.quota(30)?;
            bed.patient(&["--server", "pool=8", "--work", "burn=200us"])
        })
        .for_root(),
        Subject::fault("cpu-quota-node", CpuQuota, |bed| {
            bed.place = bed.quota(40)?;
            bed.script("node", "server.js", include_str!("../../programs/server.js"), &["100"])
        })
        .for_root()
        .needs(&["node"]),
    ]
}
