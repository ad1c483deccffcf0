//! Logins in the environment of a service's process, which are read only if the user asks for that.

use super::url::Login;
use std::fs::File;
use std::io::{self, Read};

/// The most bytes of an environment that are read.
const LONGEST: u64 = 1 << 20;

/// Returns the logins in the environment of a process: the values of variables such as `DATABASE_URL`, each once.
///
/// # Errors
/// If the environment cannot be read: it belongs to another user, or the process has ended.
pub fn logins_of(process: i32) -> io::Result<Vec<Login>> {
    let mut environment = Vec::new();
    File::open(format!("/proc/{process}/environ"))?.take(LONGEST).read_to_end(&mut environment)?;
    Ok(logins(&environment))
}

fn logins(environment: &[u8]) -> Vec<Login> {
    let mut logins = Vec::new();
    for variable in environment.split(|&byte| byte == 0).filter_map(|variable| std::str::from_utf8(variable).ok()) {
        let Some((name, value)) = variable.split_once('=') else { continue };
        let is_login = ["URL", "URI", "DSN", "DATABASE"].iter().any(|end| name.to_ascii_uppercase().ends_with(end));
        if let Some(login) = is_login.then(|| Login::parse(value).ok()).flatten()
            && !logins.contains(&login)
        {
            logins.push(login);
        }
    }
    logins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_with_urls_are_logins() {
        let environment = b"PATH=/bin\0DATABASE_URL=postgres://me:x@db/shop\0SHOP_DB_URL=postgres://me:x@db/shop\0\
            REDIS_URI=redis://cache\0HOMEPAGE_URL=http://a\0X=mysql://me@db\0\xff=1";
        let logins: Vec<_> = logins(environment).iter().map(ToString::to_string).collect();
        assert_eq!(logins, ["postgres://***@db", "redis://cache"]);
    }
}
