//! Private servers: in folders and on ports of their own, ended with the test whatever happens.

use super::folder::Folder;
use super::make::Make;
use super::outside::Outside;
use super::processes::{family, is_stopped};
use super::url::{PASSWORD, url};
use crate::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use std::net::TcpListener;
use std::process::Child;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

/// A server that is ended when this is dropped, or its process ends in any other way.
pub struct Server {
    make: Make,
    folder: Folder,
    /// On the loopback address.
    pub port: u16,
    process: Option<Child>,
}

/// A server that all tests share which do it no harm.
pub fn shared(make: Make) -> &'static Server {
    static MARIADB: OnceLock<Server> = OnceLock::new();
    static POSTGRES: OnceLock<Server> = OnceLock::new();
    static REDIS: OnceLock<Server> = OnceLock::new();
    let shared = match make {
        Make::MariaDb => &MARIADB,
        Make::Postgres => &POSTGRES,
        Make::Redis => &REDIS,
    };
    shared.get_or_init(|| {
        let (sender, server) = std::sync::mpsc::channel();
        // The server dies with the thread that has started it: so that must be one that stays.
        thread::spawn(move || {
            let server = Server::start(make);
            server.folder.leave_to_janitor();
            sender.send(server).expect("the test waits for it");
            loop {
                thread::park();
            }
        });
        server.recv().expect("the server starts")
    })
}

impl Server {
    /// A new one with nothing in it.
    pub fn start(make: Make) -> Self {
        let mut server = Self { make, folder: Folder::new(), port: 0, process: None };
        make.program().initialise(&server.folder);
        // Another program may get the port first.
        for _ in 0..5 {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
            server.port = free.expect("there is a free port").port();
            if server.run() {
                make.program().welcome(&server.folder);
                return server;
            }
        }
        panic!("{make:?} does not start: {}", server.folder.log());
    }

    /// The process that all others of it come from.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().expect("it runs").id()
    }

    /// Starts it again on its port and data.
    pub fn start_again(&mut self) {
        assert!(self.run(), "{:?} does not start again: {}", self.make, self.folder.log());
    }

    /// Kills it, without a notice to its clients.
    pub fn kill(&mut self) {
        if self.process.is_some() {
            // A child that is stopped would never notice.
            self.go_on();
        }
        if let Some(mut process) = self.process.take() {
            process.kill().expect("it is our child");
            process.wait().expect("it is our child");
            wait_until("all of the server has left", || self.make.program().has_left(&self.folder).then_some(()));
        }
    }

    /// Stops all that it does, and waits until it has stopped.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        wait_until("all threads have stopped", || self.pids().into_iter().all(is_stopped).then_some(()));
    }

    /// Lets it go on.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        for pid in self.pids() {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process has a number");
            // A child may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }

    fn pids(&self) -> Vec<u32> {
        family(self.pid())
    }

    /// Returns the URL of a new database without other clients; not for Redis, which has numbers instead.
    pub fn new_database(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test{}", NUMBER.fetch_add(1, Relaxed));
        Outside::new(&self.url(self.any_database())).run(&format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// The URL of one of its databases.
    pub fn url(&self, database: &str) -> String {
        self.url_with(PASSWORD, database)
    }

    /// Returns the URL with another password.
    pub fn url_with(&self, password: &str, database: &str) -> String {
        url(self.make.program().scheme_and_user(), self.port, password, database)
    }

    /// A database that each server has.
    pub fn any_database(&self) -> &'static str {
        self.make.program().any_database()
    }

    /// Starts it, and waits until it responds. False if it ends instead.
    fn run(&mut self) -> bool {
        let program = self.make.program();
        let mut process = program.command(&self.folder, self.port).spawn().expect("setpriv comes with util-linux");
        let mut ended = false;
        wait_until("the server answers", || {
            ended = process.try_wait().expect("it is our child").is_some();
            (ended || program.responses(&self.folder, self.port)).then_some(())
        });
        if !ended {
            self.process = Some(process);
        }
        !ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
