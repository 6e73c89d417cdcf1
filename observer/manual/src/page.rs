//! Man pages in the form of man(7). `clap_mangen` writes their sections, except for those after the options: they are lines that have to
//! stay as they are, such as examples.

use anyhow::{Result, ensure};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// The name of the collection, in the heading of each page.
const MANUAL: &str = "watchtap";

/// Headings of the help that man pages have another name for (man-pages(7)).
const RENAMED: [(&str, &str); 1] = [("EXIT CODES", "EXIT STATUS")];

/// A page for the command line, and one for each visible subcommand, by path.
pub(crate) fn pages(command: Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let subcommands = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    let commands: Vec<&Command> = std::iter::once(&command).chain(subcommands).collect();
    let pages = commands.iter().map(|one| page(one, &commands));
    pages.collect()
}

fn page(command: &Command, all: &[&Command]) -> Result<(String, Vec<u8>)> {
    let version = all.first().and_then(|first| first.get_version()).unwrap_or_default();
    let name = name(command);
    let man = Man::new(command.clone()).title(name.to_uppercase()).source(format!("watchtap {version}")).manual(MANUAL);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::default();
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    sections(after.map(ToString::to_string).unwrap_or_default().as_str(), &mut rest)?;
    see_also(name, all, &mut rest);
    rest.to_writer(&mut page)?;
    let page = in_ascii(&String::from_utf8(page)?);
    Ok((format!("man/man1/{name}.1"), page.into_bytes()))
}

/// Other characters as escapes, because some programs that show pages read bytes (`groff_char(7)`).
fn in_ascii(page: &str) -> String {
    page.chars().map(escaped).collect()
}

fn escaped(character: char) -> String {
    if character.is_ascii() { character.to_string() } else { format!("\\[u{:04X}]", u32::from(character)) }
}

/// `watchtap`, `watchtap-run`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The lines of each section as they are, without their indentation.
fn sections(after_help: &str, roff: &mut Roff) -> Result<()> {
    let mut is_open = false;
    for line in after_help.lines() {
        if let Some(heading) = heading(line) {
            if is_open {
                roff.control("fi", []);
            }
            roff.control("SH", [heading]);
            roff.control("nf", []);
            is_open = true;
        } else {
            ensure!(is_open || line.is_empty(), "the help has a line after the options that is in no section: {line}");
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
    }
    if is_open {
        roff.control("fi", []);
    }
    Ok(())
}

/// The heading in man pages, of a line such as `EXIT CODES:`.
fn heading(line: &str) -> Option<&str> {
    let words = line.trim_end().strip_suffix(':')?;
    let is_heading = words.starts_with(|first: char| first.is_ascii_uppercase())
        && words.chars().all(|character| character.is_ascii_uppercase() || character == ' ');
    let renamed = || RENAMED.iter().find(|&&(of_help, _)| of_help == words).map_or(words, |&(_, of_page)| of_page);
    is_heading.then(renamed)
}

fn see_also(own: &str, all: &[&Command], roff: &mut Roff) {
    let others: Vec<String> =
        all.iter().map(|other| name(other)).filter(|name| *name != own).map(|name| format!("{name}(1)")).collect();
    roff.control("SH", ["SEE ALSO"]);
    // Names are not divided at the ends of lines.
    roff.control("nh", []);
    roff.text([roman(others.join(", "))]);
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Write as _};
    use std::process::{Command, Output, Stdio};

    use super::{Result, Roff, pages, sections};

    #[test]
    fn each_visible_command_has_a_page_with_its_sections() {
        let pages = pages(watchtap::cli::command_line()).unwrap();
        let names: Vec<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(names[0], "man/man1/watchtap.1");
        let line = watchtap::cli::command_line();
        for subcommand in line.get_subcommands() {
            let path = format!("man/man1/watchtap-{}.1", subcommand.get_name());
            assert_eq!(names.contains(&&*path), !subcommand.is_hide_set(), "{path}");
        }
        for (path, page) in &pages {
            let page = String::from_utf8_lossy(page);
            assert!(page.is_ascii(), "{path}:\n{page}");
            for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"SEE ALSO\""] {
                assert!(page.contains(&format!("\n.SH {heading}\n")), "{path} lacks {heading}:\n{page}");
            }
        }
    }

    /// In filled text, the lines of examples would run together.
    #[test]
    fn examples_keep_their_lines() {
        let text = of("EXAMPLES:\n  one --flag \\\n    | two\n\n  'three'\n\nEXIT CODES:\n  0  all\n").unwrap();
        assert!(
            text.contains(".SH \"EXIT STATUS\"\n.nf\n0  all\n.fi\n") && text.contains("one \\-\\-flag \\\\\n  | two\n"),
            "{text}"
        );
    }

    #[test]
    fn each_heading_of_the_help_opens_a_section() {
        let text = of("WHAT IS SEEN:\n  one\n\nEXAMPLES OF NAMES:\n  two\nNot: a heading\n").unwrap();
        assert!(
            text.contains(".SH \"WHAT IS SEEN\"\n.nf\none\n") && text.contains(".fi\n.SH \"EXAMPLES OF NAMES\"\n.nf\ntwo\n"),
            "{text}"
        );
        assert_eq!(text.matches(".SH").count(), 2, "{text}");
        assert!(of("  a line\n").unwrap_err().to_string().contains("is in no section:   a line"));
    }

    /// Each page as a reader sees it. Left out where groff is not installed.
    #[test]
    fn pages_are_rendered_without_a_warning() {
        for (path, page) in pages(watchtap::cli::command_line()).unwrap() {
            let Some(rendered) = rendered(&page) else { return };
            assert!(rendered.stderr.is_empty(), "{path}: {}", String::from_utf8_lossy(&rendered.stderr));
            let text = String::from_utf8_lossy(&rendered.stdout);
            let headings = String::from_utf8(page).unwrap();
            for heading in headings.lines().filter_map(|line| line.strip_prefix(".SH ")) {
                let heading = heading.trim_matches('"');
                assert!(text.lines().any(|line| line == heading), "{path} does not show {heading}:\n{text}");
            }
            assert!(!text.lines().any(|line| line.starts_with(' ') && super::heading(line.trim()).is_some()), "{path}:\n{text}");
        }
    }

    fn rendered(page: &[u8]) -> Option<Output> {
        // Without colours and overstrikes, and without pages of paper.
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tutf8", "-P-c", "-P-b", "-P-u", "-rcR=1"]);
        let started = groff.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        if started.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return None;
        }
        let mut child = started.unwrap();
        child.stdin.take().unwrap().write_all(page).unwrap();
        Some(child.wait_with_output().unwrap())
    }

    fn of(after_help: &str) -> Result<String> {
        let mut roff = Roff::default();
        sections(after_help, &mut roff)?;
        let mut written = Vec::new();
        roff.to_writer(&mut written)?;
        Ok(String::from_utf8(written)?)
    }
}
