//! CPUs that are busy: one of them, all of them, or as much of them as a quota allows.

use crate::subject::Subject;
use torr_gauge::Factor::{CpuQuota, ServerCpu, SingleCore};

pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::fault("single-core-loop", SingleCore, |env| {
            env.service(&["--server", "loop", "--handler", "burn=1ms"])
        }),
        Subject::fault("single-core-uvicorn", SingleCore, |env| env.uvicorn("compute", &[])).needs(&["uvicorn"]),
        Subject::fault("single-core-node", SingleCore, |env| {
            env.script("node", "server.js", include_str!("../../programs/server.js"), &["300"])
        })
        .needs(&["node"]),
        Subject::fault("single-core-torr", SingleCore, |env| Ok(env.torr_serve(&["--workers", "1"])? + "/cpu/500")),
        Subject::fault("server-cpu-torr", ServerCpu, |env| Ok(env.torr_serve(&[])? + "/cpu/2000")),
        Subject::fault("server-cpu-pool", ServerCpu, |env| {
            env.service(&["--server", "pool=8", "--handler", "burn=2ms"])
        }),
        Subject::fault("server-cpu-gunicorn", ServerCpu, |env| {
            env.gunicorn("compute", &["--workers", "4", "--threads", "4", "--keep-alive", "30"])
        })
        .needs(&["gunicorn"]),
        Subject::fault("cpu-quota-torr", CpuQuota, |env| {
            env.placement = env.quota(25)?;
            Ok(env.torr_serve(&[])? + "/cpu/500")
        })
        .for_root(),
        Subject::fault("cpu-quota-pool", CpuQuota, |env| {
            env.placement = env.quota(30)?;
            env.service(&["--server", "pool=8", "--handler", "burn=200us"])
        })
        .for_root(),
        Subject::fault("cpu-quota-node", CpuQuota, |env| {
            env.placement = env.quota(40)?;
            env.script("node", "server.js", include_str!("../../programs/server.js"), &["100"])
        })
        .for_root()
        .needs(&["node"]),
    ]
}
