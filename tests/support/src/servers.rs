//! Real servers: `torr serve`, nginx from Debian, and one by grpc-go.

use crate::client::Client;
use crate::program::{Running, built_by_full, signal, torr_command};
use crate::{KilledAtEnd, wait_until};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// `torr serve` on a free port.
pub struct Serve {
    child: Child,
    pub address: String,
}

impl Serve {
    pub fn start(args: &[&str]) -> Self {
        Self::start_on("127.0.0.1:0", args)
    }

    pub fn start_on(listen: &str, args: &[&str]) -> Self {
        Self::start_as(torr_command(&[&["serve", "--listen", listen], args].concat()))
    }

    /// By a command of the test's own.
    pub fn start_as(mut command: Command) -> Self {
        let child = command.stderr(Stdio::piped()).spawn().expect("torr starts");
        // From here on it ends with this value, whatever it says.
        let mut serve = Self { child, address: String::new() };
        let mut line = String::new();
        let mut stderr = BufReader::new(serve.child.stderr.take().expect("it was piped"));
        stderr.read_line(&mut line).expect("a pipe can be read");
        // Read on, so that the server never blocks on its messages.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = |word| ["http://", "https://"].into_iter().find_map(|scheme| str::strip_prefix(word, scheme));
        let url = line.split_whitespace().find_map(address);
        serve.address = url.unwrap_or_else(|| panic!("torr serve said: {line}")).to_owned();
        serve
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A connection that reads responses.
    pub fn client(&self) -> Client {
        Client::connect(&self.address)
    }

    /// A connection to it.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_nodelay(true).expect("a socket takes options");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket takes options");
        stream
    }

    /// Sends raw bytes on a connection of their own, and reads all responses until the server closes.
    pub fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("the server takes a request");
        let mut response = Vec::new();
        // A reset after the response is an end as well.
        let _ = stream.read_to_end(&mut response);
        String::from_utf8_lossy(&response).into_owned()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to leave.
    pub fn terminate(&self) {
        signal(self.pid(), "TERM");
    }

    /// Waits for its end and gives its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        wait_until("the server to end", || self.child.try_wait().expect("a child can be waited for")).code()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// nginx with one worker, in a folder of its own.
pub struct Nginx {
    _running: Running,
    _folder: tempfile::TempDir,
    pub address: String,
}

impl Nginx {
    /// With these lines in its `server` block.
    pub fn start(server: &str) -> Self {
        Self::start_with("", server)
    }

    /// Listening with these words, such as `http2`, as well.
    pub fn start_with(listen: &str, server: &str) -> Self {
        Self::start_in(temporary_folder(), listen, server, "")
    }

    /// With these lines beside its `server` block, such as another one.
    pub fn start_beside(server: &str, beside: &str) -> Self {
        Self::start_in(temporary_folder(), "", server, beside)
    }

    /// Over TLS, with these files.
    pub fn start_tls(certificate: &Path, key: &Path, server: &str) -> Self {
        let (certificate, key) = (certificate.display(), key.display());
        let tls = "ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:all:1m";
        Self::start_with(
            "ssl http2",
            &format!("ssl_certificate {certificate}; ssl_certificate_key {key}; {tls}; {server}"),
        )
    }

    fn start_in(folder: tempfile::TempDir, listen: &str, server: &str, beside: &str) -> Self {
        let path = |name: &str| folder.path().join(name).display().to_string();
        let address = format!("127.0.0.1:{}", free_port());
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {};\n", path(name)))
            .concat();
        let config = format!(
            "daemon off; master_process off; pid {}; error_log {};\nevents {{ worker_connections 4096; }}\n\
             http {{ access_log off; default_type text/html; {temporary}\nserver {{ listen {address} {listen} backlog=4096; {server} }}\n{beside} }}\n",
            path("pid"),
            path("error.log"),
        );
        std::fs::write(folder.path().join("nginx.conf"), config).expect("a file can be written");
        let mut command = Command::new("nginx");
        command.args(["-e", &path("error.log"), "-c", &path("nginx.conf")]);
        let running = Running::start(command);
        wait_until("nginx to listen", || TcpStream::connect(&address).ok());
        Self { _running: running, _folder: folder, address }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn https(&self) -> String {
        format!("https://{}/", self.address)
    }
}

/// The server by grpc-go of `tests/grpc`: health, reflection, and a service whose calls say what it does. `./test full` builds the
/// program beside the tests' own.
pub struct GrpcGo {
    _process: KilledAtEnd,
    pub address: String,
}

impl GrpcGo {
    pub fn start() -> Self {
        let mut child =
            Command::new(built_by_full("grpc/server")).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut address = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut address).expect("a pipe can be read");
        Self { _process: KilledAtEnd(child), address: address.trim().to_owned() }
    }
}

fn temporary_folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("there is room for temporary files")
}

/// Returns a port without a listener.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it is bound").port()
}

/// Returns a port of 127.0.0.1 that refuses connections as long as this program runs: it is taken, so that no server of another
/// test can have it, and no listener is on it.
pub fn closed_port() -> u16 {
    static CLOSED: OnceLock<(OwnedFd, u16)> = OnceLock::new();
    let (_, port) = CLOSED.get_or_init(|| {
        let taken = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("a socket");
        bind(&taken, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port is free");
        let address = getsockname(&taken).expect("it is bound");
        let address = SocketAddrV4::try_from(address).expect("it is of the Internet");
        (taken, address.port())
    });
    *port
}
