//! The command of `watchtap exec` on the page.

use expect_test::expect;
use ratatui::style::Color;

use super::screen::{drawn, large, page, press, small, text};
use super::stories::{SILENCE, trouble};
use crate::view::colour::Colour;
use crate::view::page::{CommandEnd, Page};

#[test]
fn second_line_has_the_state_of_the_command() {
    let mut page = with_command(page(&trouble()));
    expect!["command running · output: watchtap-output-20260101T120000Z.log …"].assert_eq(&second_line(&page, 80));
    expect!["command running · output: watchtap-output-20260101T120000Z.log · ./my-controller --workers 3"]
        .assert_eq(&second_line(&page, 200));
    expect!["command running …"].assert_eq(&second_line(&page, 60));
    press(&mut page, "p");
    page.command_ended(CommandEnd { exit_code: 3, signal: None });
    expect!["command ended with exit code 3 · output: watchtap-output-20260101T120000Z.log …"].assert_eq(&second_line(&page, 80));
    expect!["command ended with exit code 3 · output: watchtap-output-20260101T120000Z.log · q quits with a report · ./my-controller --workers 3"]
        .assert_eq(&second_line(&page, 200));
    expect!["command ended with exit code 3 …"].assert_eq(&second_line(&page, 60));
    page.command_ended(CommandEnd { exit_code: 137, signal: Some(9) });
    expect!["command ended by signal 9, with exit code 137 …"].assert_eq(&second_line(&page, 80));
}

#[test]
fn failed_command_is_red() {
    for (exit_code, colour) in [(0, Color::Green), (3, Color::Red)] {
        let mut page = with_command(page(SILENCE));
        page.colour = Colour::On;
        page.command_ended(CommandEnd { exit_code, signal: None });
        assert_eq!(drawn(&page, 80, 24).cell((0, 1)).map(|cell| cell.fg), Some(colour), "{exit_code}");
    }
}

#[test]
fn basis_of_the_numbers_includes_the_command() {
    let mut page = with_command(page(SILENCE));
    assert!(!small(&page).contains("COMMAND"));
    press(&mut page, "i");
    let screen = large(&page);
    let section: Vec<&str> = screen.lines().skip_while(|line| !line.starts_with("COMMAND")).take(4).collect();
    expect![[r"
        COMMAND
          ./my-controller --workers 3
          command running
          its stdout and stderr go to watchtap-output-20260101T120000Z.log"]]
    .assert_eq(&section.join("\n"));
}

fn with_command(page: Page) -> Page {
    page.with_command("./my-controller --workers 3".to_owned(), "watchtap-output-20260101T120000Z.log".to_owned())
}

fn second_line(page: &Page, width: u16) -> String {
    text(&drawn(page, width, 24)).lines().nth(1).unwrap_or_default().to_owned()
}
