//! The command line in the words of the kubectl plug-in: usage, help and examples name commands as the user types them.

use clap::Command;
use clap::builder::{Resettable, StyledStr};

use crate::invocation::Invocation;

/// The same command line, in the words of `invocation`.
pub(super) fn of(invocation: Invocation, command: Command) -> Command {
    match invocation {
        Invocation::Program => command,
        Invocation::Plugin | Invocation::Completion => in_words(invocation, command.bin_name(invocation.command())),
    }
}

fn in_words(invocation: Invocation, mut command: Command) -> Command {
    let words = |text: Option<&StyledStr>| match text {
        Some(text) => Resettable::Value(StyledStr::from(invocation.in_words(&text.to_string()).into_owned())),
        None => Resettable::Reset,
    };
    let (about, long_about) = (words(command.get_about()), words(command.get_long_about()));
    let after_help = words(command.get_after_help());
    command = command.about(about).long_about(long_about).after_help(after_help);
    command = command.mut_args(|argument| {
        let (help, long_help) = (words(argument.get_help()), words(argument.get_long_help()));
        argument.help(help).long_help(long_help)
    });
    command.mut_subcommands(|subcommand| in_words(invocation, subcommand))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;
    use crate::invocation::SUBCOMMANDS;

    #[test]
    fn help_of_the_plugin_names_no_other_command() {
        let mut command = of(Invocation::Plugin, command_line());
        command.build();
        let mut commands = vec![command.clone()];
        commands.extend(command.get_subcommands().cloned());
        for mut command in commands {
            // A line may end after `kubectl`.
            let help = command.render_long_help().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            let others: Vec<&str> = help.split("kubectl watchtap ").filter(|part| has_a_command(part)).collect();
            assert!(others.is_empty(), "{}: {others:#?}", command.get_name());
        }
        assert!(command.render_usage().to_string().contains("Usage: kubectl watchtap <COMMAND>"), "{}", command.render_usage());
        let status = command.find_subcommand_mut("status").unwrap();
        assert!(status.render_usage().to_string().contains("kubectl watchtap status [OPTIONS]"));
        assert!(status.render_long_help().to_string().contains("\n  kubectl watchtap status -n shop"));
    }

    /// Otherwise its commands would not be in the words of the plug-in.
    #[test]
    fn every_subcommand_is_known_to_the_invocation() {
        for subcommand in command_line().get_subcommands() {
            assert!(SUBCOMMANDS.contains(&subcommand.get_name()), "{}", subcommand.get_name());
        }
    }

    #[test]
    fn program_keeps_its_words() {
        let mut plain = of(Invocation::Program, command_line());
        assert_eq!(plain.render_long_help().to_string(), command_line().render_long_help().to_string());
    }

    fn has_a_command(text: &str) -> bool {
        Invocation::Plugin.in_words(text) != text
    }
}
