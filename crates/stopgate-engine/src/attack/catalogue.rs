//! All exploits, as data.

mod any;
mod cargo;
mod go;
mod make;
mod node;
mod node_settings;
mod python;
mod python_settings;
mod shell;

use super::exploit::{Ecosystem, Exploit};

/// Every exploit there is.
pub(super) fn all() -> impl Iterator<Item = Exploit> {
    let tables = [
        (Ecosystem::Python, python::EXPLOITS),
        (Ecosystem::Python, python_settings::EXPLOITS),
        (Ecosystem::Node, node::EXPLOITS),
        (Ecosystem::Node, node_settings::EXPLOITS),
        (Ecosystem::Cargo, cargo::EXPLOITS),
        (Ecosystem::Go, go::EXPLOITS),
        (Ecosystem::Make, make::EXPLOITS),
        (Ecosystem::Shell, shell::EXPLOITS),
        (Ecosystem::Any, any::EXPLOITS),
    ];
    tables.into_iter().flat_map(|(ecosystem, exploits)| {
        exploits.iter().map(move |exploit| Exploit { ecosystem, ..*exploit })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::exploit::Ecosystem;
    use super::all;

    #[test]
    fn there_are_enough_and_each_has_a_name_of_its_own() {
        let names: BTreeSet<(&str, Ecosystem)> =
            all().map(|own| (own.name, own.ecosystem)).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() >= 100, "{}", names.len());
    }

    #[test]
    fn a_quick_attack_has_enough_of_each_ecosystem() {
        use Ecosystem::{Cargo, Go, Make, Node, Python, Shell};
        for ecosystem in [Cargo, Go, Make, Node, Python, Shell] {
            let count = all().filter(|own| own.quick && own.ecosystem == ecosystem).count();
            assert!((8..=14).contains(&count), "{}: {count}", ecosystem.word());
        }
    }
}
