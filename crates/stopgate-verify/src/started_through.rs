//! The shells and wrappers through which this process was started, and what they knew.
//!
//! A command can be started without its shell's variables: by `env -i`, or in a terminal of its
//! own. The shell above it still has them.

use crate::proc::{environment, name, own_pid, process};

/// Processes above this one are looked at this far.
const PARENTS_MAX: usize = 32;

/// Programs that only start others. The search ends at any other program: a test runner that an
/// agent starts may play a person.
const WRAPPERS: &str = "ash bash dash doas env expect fish ionice ksh nice node nohup perl pwsh \
    python python3 ruby script setsid sh socat stdbuf su sudo time timeout unbuffer xargs zsh";

/// The first of `names` that one of the wrappers above this process was started with, and whose
/// value counts.
pub fn variable_before<'n>(names: &[&'n str], counts: &dyn Fn(&str) -> bool) -> Option<&'n str> {
    let mut pid = process(own_pid())?.parent;
    for _ in 0..PARENTS_MAX {
        let own = process(pid).filter(|own| own.pid > 1)?;
        if !is_wrapper(&name(pid)?) {
            return None;
        }
        let variables = environment(pid);
        let has = |name: &&&str| value(&variables, name).is_some_and(counts);
        if let Some(found) = names.iter().find(has) {
            return Some(found);
        }
        pid = own.parent;
    }
    None
}

/// The processes above this one, the nearest first.
pub fn processes_above() -> Vec<i32> {
    let mut found = Vec::new();
    let mut next = process(own_pid()).map(|own| own.parent);
    while let Some(pid) = next.filter(|pid| *pid > 1 && found.len() < PARENTS_MAX) {
        found.push(pid);
        next = process(pid).map(|own| own.parent);
    }
    found
}

/// `python3.12` is Python, too.
fn is_wrapper(name: &str) -> bool {
    let plain =
        if name.starts_with("python") { name.split('.').next().unwrap_or(name) } else { name };
    WRAPPERS.split_whitespace().any(|own| own == plain)
}

/// The value of a variable.
fn value<'v>(variables: &'v [u8], name: &str) -> Option<&'v str> {
    let mut all = variables.split(|byte| *byte == 0);
    let of = |own: &'v [u8]| own.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
    all.find_map(of).and_then(|value| str::from_utf8(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_known_by_its_whole_name() {
        let variables = b"A=1\0AB=\0LONG_A=2\0";
        assert_eq!(value(variables, "A"), Some("1"));
        assert_eq!(value(variables, "AB"), Some(""));
        assert_eq!(value(variables, "LONG"), None);
        assert!(is_wrapper("bash") && is_wrapper("python3.12"));
        assert!(!is_wrapper("cli-3cc1db4d28d") && !is_wrapper("stopgate"));
    }
}
