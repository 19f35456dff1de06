//! Where a journal is.

use std::fmt;
use std::path::PathBuf;

use crate::failure::Failure;

/// Where a journal is.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// In stopgate's own directory.
    Own,
    /// In this file.
    Sqlite(PathBuf),
    /// On a server, under this URL. It may hold a password: shown without it.
    Postgres(String),
}

impl Address {
    /// Reads `sqlite:PATH`, `postgres://…` or `postgresql://…`.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let is_server = ["postgres://", "postgresql://"].iter().any(|way| text.starts_with(way));
        match text.strip_prefix("sqlite:") {
            // A server's address behind it has a password, and no file is called so.
            Some(path) if !path.is_empty() && !path.contains("://") => {
                Ok(Self::Sqlite(PathBuf::from(path)))
            }
            None if is_server => Ok(Self::Postgres(text.into())),
            // What is not understood is not shown: a password may be anywhere in it.
            Some(_) | None => {
                Err(Failure::usage(format!("could not use the store: {}", what_it_is(text)))
                    .hint("this program knows sqlite:PATH and postgres://USER@HOST/DATABASE"))
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("the journal in stopgate's own directory"),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => f.write_str(&redacted(url)),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// What an address is that is not understood, without a word of it.
fn what_it_is(text: &str) -> &'static str {
    if text.starts_with("sqlite:") && !text.contains("://") {
        "sqlite: needs a path"
    } else if text.contains("://") {
        "its scheme is unknown"
    } else if text.contains('=') {
        "key=value pairs are not understood"
    } else {
        "it is not an address"
    }
}

/// A URL without the passwords in it, wherever they stand.
fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let (place, query) = match rest.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (rest, None),
    };
    let place = match place.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user.into(), |(name, _)| format!("{name}:***"));
            format!("{user}@{host}")
        }
        // A password with a question mark in it: better too little is shown than too much.
        None if query.is_some_and(|query| query.contains('@')) => return format!("{scheme}://***"),
        None => place.into(),
    };
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("pass") => format!("{name}=***"),
        Some(_) | None => pair.into(),
    };
    match query {
        Some(query) => {
            let pairs: Vec<String> = query.split('&').map(hidden).collect();
            format!("{scheme}://{place}?{}", pairs.join("&"))
        }
        None => format!("{scheme}://{place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        let read = Address::read(text).map_err(|failure| failure.story());
        assert_eq!(read.map_or_else(|story| story, |address| address.to_string()), shown);
    }

    #[test]
    fn an_address_is_shown_without_its_passwords() {
        check("sqlite:/a/b.db", "sqlite:/a/b.db");
        check("postgres://host/db", "postgres://host/db");
        check("postgres://me@host/db", "postgres://me@host/db");
        check("postgres://me:se:c@ret@host:1,other:2/db", "postgres://me:***@host:1,other:2/db");
        check("postgres://me:se?cret@host/db", "postgres://***");
        check(
            "postgresql:///db?host=/run&password=secret&sslmode=disable&sslpassword=x",
            "postgresql:///db?host=/run&password=***&sslmode=disable&sslpassword=***",
        );
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_passwords() {
        check("sqlite:", "could not use the store: sqlite: needs a path");
        check("mysql://me:secret@host/db", "could not use the store: its scheme is unknown");
        check(
            "host=h user=u password=secret",
            "could not use the store: key=value pairs are not understood",
        );
        check("postgres//u:secret@h/x", "could not use the store: it is not an address");
    }
}
