use super::{Roots, Safety, ServerAddress, ServerWanted, redacted};

#[test]
fn an_address_is_read_as_libpq_does() {
    check("postgres://u:p@h/db", "u@h:5432/db any Prefer Platform");
    check("postgresql://h", "h:5432 any Prefer Platform");
    check(
        "postgres://u@[::1]:6000/db?sslmode=verify-full",
        "u@::1:6000/db any VerifyFull Platform",
    );
    check("postgres://%2Frun%2Fpg/db", "/run/pg:5432/db any Prefer Platform");
    check("postgres:///db?host=/run/pg&port=7", "/run/pg:7/db any Prefer Platform");
    check("postgres://u@a:1,b:2/d", "u@a:1,b:2/d writes Prefer Platform");
    check(
        "host=a,b port=7 user='o",
        "could not read the store's address postgres://…: a ' is not closed",
    );
    check("host=a,b port=7 user='o\\'x' dbname = d", "o'x@a:7,b:7/d writes Prefer Platform");
    check("host=a,b target_session_attrs=any", "a:5432,b:5432 any Prefer Platform");
    check("host=a sslmode=require sslrootcert=/ca.pem", "a:5432 any VerifyCa /ca.pem");
    check("host=a sslmode=verify-full sslrootcert=system", "a:5432 any VerifyFull Platform");
}

#[test]
fn what_is_wrong_is_said_without_the_password() {
    check(
        "nonsense",
        "could not read the store's address postgres://…: it is neither postgres://user@host/database nor key=value pairs with host, user, dbname",
    );
    check(
        "postgres://u:secret@h/d?sslmode=maybe",
        "could not read the store's address postgres://u@h/d: sslmode is maybe; it may be disable, allow, prefer, require, verify-ca or verify-full",
    );
    check(
        "postgres://u:secret@h/d?colour=red",
        "could not read the store's address postgres://u@h/d: unknown option `colour`",
    );
    check(
        "postgres://u:secret@h:x/d",
        "could not read the store's address postgres://u@h:x/d: port is x, not a number",
    );
    check(
        "postgres://u:se%zz@h/d",
        "could not read the store's address postgres://…: a % is not followed by two hexadecimal digits of a character",
    );
}

#[test]
fn no_form_shows_its_password() {
    for address in [
        "postgres://u:secret@h/d",
        "postgres://u@h/d?password=secret",
        "host=h password=secret",
        "password='secret",
        "postgres://u:se@cret:secret@h,i/d",
        "password = 'x secret' host=h",
    ] {
        assert!(!redacted(address).contains("secret"), "{}", redacted(address));
        let parsed = ServerAddress::parse(address);
        let shown = parsed.as_ref().map_or_else(ToString::to_string, |a| a.shown.clone());
        assert!(!shown.contains("secret"), "{shown}");
        assert!(!format!("{parsed:?}").contains("secret"), "{parsed:?}");
    }
}

#[track_caller]
fn check(address: &str, expected: &str) {
    let seen = match ServerAddress::parse(address) {
        Err(error) => format!("could not {error}"),
        Ok(parsed) => describe(&parsed),
    };
    assert_eq!(seen, expected, "{address}");
}

fn describe(address: &ServerAddress) -> String {
    let user = address.config.get_user().map_or(String::new(), |user| format!("{user}@"));
    let database = address.config.get_dbname().map_or(String::new(), |name| format!("/{name}"));
    let places: Vec<String> =
        address.places.iter().map(|place| format!("{}:{}", place.host, place.port)).collect();
    let wanted = match address.wanted {
        ServerWanted::Any => "any",
        ServerWanted::ReadWrite => "writes",
    };
    let roots = match &address.roots {
        Roots::Platform => "Platform".into(),
        Roots::File(path) => path.display().to_string(),
    };
    let safety: Safety = address.safety;
    format!("{user}{}{database} {wanted} {safety:?} {roots}", places.join(","))
}
