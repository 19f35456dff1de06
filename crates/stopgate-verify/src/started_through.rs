//! The shells and wrappers through which this process was started, and what they knew.
//!
//! A command can be started without its shell's variables: by `env -i`, or in a terminal of its
//! own. The shell above it still has them.

use crate::proc::{environment, name, own_pid, process};

/// Processes above this one are looked at this far.
const PARENTS_MAX: usize = 32;

/// Programs that start others in somebody's name. What any other program starts is its own affair:
/// a test runner that is started by an agent may well play a person.
const WRAPPERS: &str = "ash bash dash doas env expect fish ionice ksh nice node nohup perl pwsh \
    python python3 ruby script setsid sh socat stdbuf su sudo time timeout unbuffer xargs zsh";

/// The first of `names` that one of the wrappers above this process was started with.
pub fn variable_before<'n>(names: &[&'n str]) -> Option<&'n str> {
    let mut pid = process(own_pid())?.parent;
    for _ in 0..PARENTS_MAX {
        let own = process(pid).filter(|own| own.pid > 1)?;
        if !is_wrapper(&name(pid)?) {
            return None;
        }
        let variables = environment(pid);
        if let Some(found) = names.iter().find(|name| has(&variables, name)) {
            return Some(found);
        }
        pid = own.parent;
    }
    None
}

/// `python3.12` is Python, too.
fn is_wrapper(name: &str) -> bool {
    let plain =
        if name.starts_with("python") { name.split('.').next().unwrap_or(name) } else { name };
    WRAPPERS.split_whitespace().any(|own| own == plain)
}

/// Whether a variable of this name has a value.
fn has(variables: &[u8], name: &str) -> bool {
    let mut all = variables.split(|byte| *byte == 0);
    all.any(|own| {
        own.strip_prefix(name.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"="))
            .is_some_and(|value| !value.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_known_by_its_whole_name_and_has_a_value() {
        let variables = b"A=1\0AB=\0LONG_A=2\0";
        assert!(has(variables, "A"));
        assert!(!has(variables, "AB"));
        assert!(!has(variables, "LONG"));
        assert!(is_wrapper("bash") && is_wrapper("python3.12"));
        assert!(!is_wrapper("cli-3cc1db4d28d") && !is_wrapper("stopgate"));
    }
}
