//! Two authorities, and a certificate of the first for a server named `localhost`.

use std::fs;
use std::path::Path;

use super::server::said;
use crate::door;
use crate::error::LabError;

/// Nothing of the machine's own configuration gets in.
const CONF: &str = "[req]\ndistinguished_name = name\n[name]\n";

/// Makes `authority.pem`, `other.pem`, `server.pem` and `server.key` in `directory`.
pub(super) fn make(directory: &Path) -> Result<(), LabError> {
    let conf = directory.join("openssl.cnf");
    fs::write(&conf, CONF).map_err(LabError::file("write", &conf))?;
    authority(directory, "authority")?;
    authority(directory, "other")?;
    let mut openssl = request(directory, "server", "localhost");
    openssl.args(["-CA", "authority.pem", "-CAkey", "authority.key"]);
    for extension in [
        "subjectAltName=DNS:localhost",
        "basicConstraints=critical,CA:FALSE",
        "extendedKeyUsage=serverAuth",
    ] {
        openssl.args(["-addext", extension]);
    }
    said(&mut openssl).map(drop)
}

fn authority(directory: &Path, name: &str) -> Result<(), LabError> {
    let mut openssl = request(directory, name, &format!("stopgate lab {name}"));
    openssl.args(["-addext", "basicConstraints=critical,CA:TRUE"]);
    said(&mut openssl).map(drop)
}

/// A key and a certificate for `subject`, with what the caller adds.
fn request(directory: &Path, name: &str, subject: &str) -> std::process::Command {
    let mut openssl = door::command("openssl");
    openssl.current_dir(directory).args(["req", "-x509", "-nodes", "-days", "30", "-config"]);
    openssl.args(["openssl.cnf", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    openssl.args(["-subj", &format!("/CN={subject}")]);
    openssl.args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")]);
    openssl
}
