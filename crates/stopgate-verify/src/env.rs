//! What a check may know of our environment.
//!
//! A list of what programs need, not of what is forbidden: a secret that nobody has
//! thought of stays here. Nothing in it can be a key or a message channel unless a
//! person named it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::bytecode;

/// Carries the mark by which a check's processes are known.
pub(crate) const MARK: &str = "STOPGATE_CHECK";

/// A variable.
pub(crate) type Variable = (OsString, OsString);

/// Names that are needed by programs in general.
const NAMES: &str = "
    ALL_PROXY AR ARCHFLAGS AS BAZELISK_HOME BUNDLE_PATH CC CFLAGS CI CLASSPATH CLICOLOR
    COLORTERM COLUMNS CPATH CPLUS_INCLUDE_PATH CPP CPPFLAGS CURL_CA_BUNDLE CXX CXXFLAGS
    C_INCLUDE_PATH DEBIAN_FRONTEND DENO_DIR DEVELOPER_DIR DISPLAY DOCKER_HOST
    DYLD_FALLBACK_LIBRARY_PATH DYLD_FRAMEWORK_PATH DYLD_LIBRARY_PATH EMSDK ERL_LIBS FC FFLAGS
    FTP_PROXY GHCUP_INSTALL_BASE_PREFIX GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_CONFIG_SYSTEM
    GRADLE_HOME GRADLE_OPTS GRADLE_USER_HOME HEX_HOME HOME HOSTNAME HTTPS_PROXY HTTP_PROXY
    IN_NIX_SHELL JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_HOME JULIA_DEPOT_PATH KOTLIN_HOME
    LANG LANGUAGE LD LDFLAGS LD_LIBRARY_PATH LIBCLANG_PATH LIBRARY_PATH LINES LOCALE_ARCHIVE
    LOGNAME M2_HOME MACOSX_DEPLOYMENT_TARGET MAKE MAVEN_HOME MAVEN_OPTS MIX_ENV MIX_HOME
    NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE NM NO_COLOR NO_PROXY NUMBER_OF_PROCESSORS OBJC
    OPAMROOT OPAMSWITCH PATH PERL5LIB PERL5OPT PNPM_HOME PROJ_LIB RACK_ENV RAILS_ENV RANLIB
    REQUESTS_CA_BUNDLE SDKMAN_DIR SDKROOT SHELL SOURCE_DATE_EPOCH STRIP SWIFTLY_HOME_DIR TEMP
    TERM TERMINFO TERMINFO_DIRS TMP TMPDIR TOOLCHAINS TZ TZDIR USER VIRTUAL_ENV VOLTA_HOME
    WAYLAND_DISPLAY XAUTHORITY YARN_CACHE_DIRECTORY ZDOTDIR";

/// Names that programs need on Windows.
const WINDOWS_NAMES: &str = "
    ALLUSERSPROFILE APPDATA COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432
    COMPUTERNAME COMSPEC DRIVERDATA HOMEDRIVE HOMEPATH LOCALAPPDATA OS PATHEXT
    PROCESSOR_ARCHITECTURE PROCESSOR_IDENTIFIER PROCESSOR_LEVEL PROCESSOR_REVISION PROGRAMDATA
    PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 PSMODULEPATH PUBLIC SYSTEMDRIVE SYSTEMROOT
    USERDOMAIN USERNAME USERPROFILE WINDIR";

/// Beginnings of names that belong to one tool each.
const FAMILIES: &str = "
    ANDROID_ ASAN_ ASDF_ BUN_ CARGO_ CCACHE_ CMAKE_ COMPOSER_ CONDA_ COREPACK_ COVERAGE_ CTEST_
    CUDA_ CYPRESS_ DOTNET_ ELECTRON_ FLUTTER_ FNM_ GEM_ GIT_AUTHOR_ GIT_COMMITTER_ GO GUIX_
    HOMEBREW_ HYPOTHESIS_ JEST_ LC_ LLVM_ LSAN_ MESON MISE_ MKL_ MSAN_ MYPY NEXTEST_ NIX_CC
    NIX_CFLAGS NIX_LDFLAGS NODE_ NPM_CONFIG_ NUGET_ NVM_ OMP_ OPENBLAS_ OPENSSL_ PIPENV_ PIPX_
    PIP_ PKG_CONFIG PLAYWRIGHT_ PNPM_ POETRY_ PUB_ PUPPETEER_ PYENV_ PYTEST_ PYTHON QT_ RBENV_
    ROCM_ RUBY RUFF_ RUST RVM_ SCCACHE_ SSL_CERT_ SWIFT_ TESTCONTAINERS_ TOX_ TSAN_ UBSAN_ UV_
    VCPKG_ VITEST XDG_ YARN_ ZIG_";

/// Beginnings of names that are the clients', the messengers' and the clouds' business.
const PRIVATE: &str = "
    AI_AGENT ANTHROPIC_ AWS_ AZURE_ CLAUDE CODEX_ DISCORD_ GEMINI_ GOOGLE_ HF_ MATRIX_ OPENAI_
    SLACK_ SMTP_ STOPGATE_ TELEGRAM_ TWILIO_";

/// What names descriptors that a check does not have.
const ELSEWHERE: &str = "CARGO_MAKEFLAGS";

/// What a secret's name has somewhere in it.
const SMELLS: &str = "
    ACCESS_KEY APIKEY API_KEY CREDENTIAL PASSPHRASE PASSWD PASSWORD PRIVATE_KEY SECRET TOKEN
    WEBHOOK";

/// How a secret's name ends.
const SMELLING_ENDS: &str = "_AUTH _DSN _KEY _PASS _PAT _PWD";

/// Names that belong to the session in which the hook runs, not to the work.
const SESSION: &str = "
    COLUMNS DBUS_SESSION_BUS_ADDRESS DISPLAY LINES SSH_AUTH_SOCK TERM WAYLAND_DISPLAY XAUTHORITY
    XDG_RUNTIME_DIR XDG_SEAT XDG_SESSION_ID XDG_SESSION_TYPE XDG_VTNR";

/// What tells tools not to answer from a cache that others can write to.
const UNCACHED: [(&str, &str); 3] =
    [("TURBO_FORCE", "true"), ("NX_SKIP_NX_CACHE", "true"), ("RUFF_NO_CACHE", "true")];

/// What is added to the environment of one check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Additions<'a> {
    /// Names that the check asks for; a `*` at the end stands for the rest.
    pub(crate) pass: &'a [String],
    /// Names that the person passes on, whatever they look like.
    pub(crate) person: &'a [String],
    /// Variables of the check's own.
    pub(crate) set: &'a [(String, String)],
    /// The directory for temporary files.
    pub(crate) scratch: Option<&'a Path>,
    /// The check's mark.
    pub(crate) mark: &'a str,
}

/// The variables of this process that checks may know, but for those of the session.
pub(crate) fn kept_variables() -> Vec<Variable> {
    let mut kept: Vec<Variable> = crate::environment::variables()
        .filter(|(name, value)| is_harmless(name, value) && !is_of_session(name))
        .collect();
    kept.sort();
    kept
}

/// What a check's environment is made of: `noted` at the start, the session's own variables and
/// those that a person passes on from this process; all of this process where nothing was noted.
pub(crate) fn sources(noted: Option<&[Variable]>, additions: &Additions<'_>) -> Vec<Variable> {
    let Some(noted) = noted else { return crate::environment::variables().collect() };
    let live = |(name, _): &Variable| is_of_session(name) || name == MARK || additions.names(name);
    let mut all: Vec<Variable> = crate::environment::variables().filter(live).collect();
    all.extend(noted.iter().cloned());
    all
}

fn is_of_session(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    SESSION.split_whitespace().any(|own| own == name)
}

/// The environment of one check, out of `ours`; of two with the same name the later one counts.
pub(crate) fn environment(
    ours: impl Iterator<Item = Variable>,
    additions: &Additions<'_>,
) -> Vec<Variable> {
    let mut mark = OsString::new();
    let mut theirs = Vec::new();
    for (name, value) in ours {
        // A check of a check keeps the outer mark, so that the outer one finds it, too.
        if name == MARK {
            mark.clone_from(&value);
            mark.push(":");
        } else if additions.names(&name) || is_harmless(&name, &value) {
            theirs.push((name, value));
        }
    }
    if let Some(scratch) = additions.scratch {
        theirs.extend(["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), scratch.into())));
        // Bytecode beside the sources may not be what they say.
        theirs.push(("PYTHONPYCACHEPREFIX".into(), bytecode::directory(scratch).into()));
        // Nothing is written beside the sources, so nobody has to keep Python from writing.
        theirs.push(("PYTHONDONTWRITEBYTECODE".into(), OsString::new()));
        theirs.extend(UNCACHED.map(|(name, value)| (name.into(), value.into())));
        theirs.push(("GOFLAGS".into(), uncached_go(&theirs)));
    }
    theirs.extend(additions.set.iter().map(|(name, value)| (name.into(), value.into())));
    mark.push(additions.mark);
    theirs.push((MARK.into(), mark));
    // A client that a check starts must not be held by the hook that started the check.
    theirs.push(("STOPGATE_DISABLE".into(), "1".into()));
    theirs
}

/// Go's flags with its cache of test results turned off.
fn uncached_go(variables: &[Variable]) -> OsString {
    let own = variables.iter().rev().find(|(name, _)| name == "GOFLAGS");
    let mut flags = own.map(|(_, value)| value.clone()).unwrap_or_default();
    if !flags.is_empty() {
        flags.push(" ");
    }
    flags.push("-count=1");
    flags
}

/// The flags by which `go test` names every test: a package that leaves before its tests looks as if
/// they had passed, else. Nothing where the command reads what is printed.
pub(crate) fn every_go_test(command: &str, variables: &[Variable]) -> Option<Variable> {
    let is_read = ["$(", "`", "|", ">", "-json"].iter().any(|sign| command.contains(sign));
    if !command.contains("go test ") || is_read {
        return None;
    }
    let own = variables.iter().rev().find(|(name, _)| name == "GOFLAGS");
    let mut flags = own.map(|(_, value)| value.clone()).unwrap_or_default();
    if !flags.is_empty() {
        flags.push(" ");
    }
    flags.push("-v");
    Some(("GOFLAGS".into(), flags))
}

/// Families of variables that tools of ours read beside those that checks may see.
const TOOLS: &str = "JWZ_ ZAWINSKI_";

/// Makes git ask nobody, wait for nobody and fetch nothing, whatever a repository says.
const QUIET_GIT: [(&str, &str); 5] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("LC_ALL", "C"),
];

/// The environment of a tool: what checks may see, and a quiet git.
///
/// A tool may be led to run a program that a stranger chose, by a repository's own settings.
pub(crate) fn tool_environment(ours: impl Iterator<Item = Variable>) -> Vec<Variable> {
    let is_needed = |(name, value): &Variable| {
        let named = name.to_string_lossy();
        let own = TOOLS.split_whitespace().any(|begin| named.starts_with(begin));
        own || is_harmless(name, value)
    };
    let mut theirs: Vec<Variable> = ours.filter(is_needed).collect();
    theirs.extend(QUIET_GIT.map(|(name, value)| (name.into(), value.into())));
    theirs
}

/// The variables of this process that no check sees, unless `pass` names them, and that `text`
/// speaks of: what a check asked for in vain.
pub fn withheld(text: &str, [person, pass]: [&[String]; 2]) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let additions = Additions { pass, person, set: &[], scratch: None, mark: "" };
    let is_kept = |(name, value): &Variable| {
        name != MARK && !additions.names(name) && !is_harmless(name, value)
    };
    let names = crate::environment::variables().filter(is_kept).map(|(name, _)| name.into_string());
    names.flatten().filter(|name| name.len() > 2 && names_word(text, name)).collect()
}

/// Whether `word` stands in `text` as a word of its own.
fn names_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

impl Additions<'_> {
    /// Whether the project's file or the person named it; only a person may name a secret.
    fn names(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        let matches = |pattern: &String| match pattern.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => *pattern == name,
        };
        self.person.iter().any(matches) || (self.pass.iter().any(matches) && may_pass(&name))
    }
}

/// Whether a project's file may ask for this variable, or for all whose names begin so.
///
/// It can neither ask for everything nor for what may be a key.
pub fn may_pass(pattern: &str) -> bool {
    let name = pattern.trim_end_matches('*').to_ascii_uppercase();
    // A short beginning stands for the private names that begin with it.
    let hides = |begin: &str| pattern.ends_with('*') && begin.starts_with(&name);
    let private = PRIVATE.split_whitespace().any(|begin| name.starts_with(begin) || hides(begin));
    !name.is_empty() && !private && !smells(&name)
}

/// Whether a name in capitals looks like a secret's.
fn smells(name: &str) -> bool {
    SMELLS.split_whitespace().any(|part| name.contains(part))
        || SMELLING_ENDS.split_whitespace().any(|end| name.ends_with(end))
}

/// Whether programs need it, and it can't be a secret.
fn is_harmless(name: &OsStr, value: &OsStr) -> bool {
    // Tools read some names in both cases: `http_proxy`, `npm_config_cache`.
    let name = name.to_string_lossy().to_ascii_uppercase();
    let begins = |list: &str| list.split_whitespace().any(|begin| name.starts_with(begin));
    let has = |list: &str| list.split_whitespace().any(|needed| needed == name);
    let needed = has(NAMES) || begins(FAMILIES) || (cfg!(windows) && has(WINDOWS_NAMES));
    needed
        && !smells(&name)
        && !begins(PRIVATE)
        && name != ELSEWHERE
        && (name.ends_with("_PROXY") || !has_password(value))
}

/// Whether a variable looks like a key, or has a password in it.
pub(crate) fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    smells(&name.to_string_lossy().to_ascii_uppercase()) || has_password(value)
}

/// Whether it is an address with a name and a password in it.
fn has_password(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let mut addresses = value.split("://").skip(1);
    addresses.any(|rest| {
        let host = rest.split(['/', '?', '#', ' ', ',']).next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(person, _)| person.contains(':'))
    })
}

#[cfg(test)]
mod tests;
