//! The help, and the basis of the numbers.

use expect_test::expect;

use super::screen::{large, page, press, small};
use super::stories::trouble;

#[test]
fn help() {
    let mut page = page(&trouble());
    press(&mut page, "?");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
        KEYS
          1 … 5, tab      select a tab; shift-tab: the previous one
          j k, ↑ ↓        down and up; pgdn or space, pgup: by a page; g or home, G or
                          end: to the first or last row
          enter           open the row: timeline, evidence, members, advice, or why a
                          layer answered
          esc             back; in a table it clears the filter
          ?, ctrl-l       this help; redraw the screen
          q, ctrl-c       drain open connections, then quit with a report; exec: first
                          interrupt the command, if it still runs
          /               filter the rows: see FILTERS below
          in a filter     enter keeps it; esc restores the previous filter; backspace
                          deletes a character
          f               filter by the selected row's client and resource
          c               in tabs 1 and 4: open tab 2 with only the request shapes that
                          the client has used recently; esc returns
          s, S            s: sort by the next column, marked ▾ (after the last one: in
                          the default order, worst first); S: reverse the order
        j k scroll · esc back · q quit
    "]]
    .assert_eq(&small(&page));
    expect![[r#"
        watchtap  kind-dev · API server v1.30.4 (/version) · feature gates: defaults assumed                                                                                          1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms · 2 open watches · req 0.2/s · events 0/s · 27 requests · 17 MB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 more · 1 object · 14 kB
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
        KEYS
          1 … 5, tab      select a tab; shift-tab: the previous one
          j k, ↑ ↓        down and up; pgdn or space, pgup: by a page; g or home, G or end: to the first or last row
          enter           open the row: timeline, evidence, members, advice, or why a layer answered
          esc             back; in a table it clears the filter
          ?, ctrl-l       this help; redraw the screen
          q, ctrl-c       drain open connections, then quit with a report; exec: first interrupt the command, if it still runs
          /               filter the rows: see FILTERS below
          in a filter     enter keeps it; esc restores the previous filter; backspace deletes a character
          f               filter by the selected row's client and resource
          c               in tabs 1 and 4: open tab 2 with only the request shapes that the client has used recently; esc returns
          s, S            s: sort by the next column, marked ▾ (after the last one: in the default order, worst first); S: reverse the order
          r               show the new rows, and sort all; until then rows keep their places and new ones are counted, so that nothing moves
          p               freeze the page; watchtap continues to observe
          t               show times in UTC, or in the zone of this terminal; line 1 names the zone
          y               copy the selected list or watch as a kubectl get --raw
          w, W            copy a note in Markdown on the selected finding, storm or relist; write it to a new file in the current folder
          i               the API server's version and gates, confirmed verdicts, everything missed, reflectors that would relist on a restart, how to connect clients, messages
          ctrl-z          suspend watchtap and its traffic until fg or bg; after bg the traffic continues without the page

        MOUSE
          wheel           scrolls the table or the text
          click           selects a row, opens a tab, or sorts by a heading; another click on the heading reverses the order
          shift           with it, the mouse selects text for the terminal (in some terminals: option or fn)

        FILTERS
          pods            a plain word, which matches anywhere in a row; all terms must match
          client:NAME     a fact that contains the word: resource:pods served:etcd cause:expired state:stuck
          relists>=3      a numeric column, with >, >=, <, <= or =: objects>1000 bytes>1MB in-state<10s; a row without the number does not match
          a OR b c        a, or both b and c
          NOT a, -a       rows that do not match a: -client:kubectl
          "system:node"   quotes, around a word with a colon, a space or an operator
          facts           client resource scope state cause verb served rule kind
          numbers         relists resumes objects unchanged bytes events rate behind in-state n failed first-byte total reflectors clients peak joined-in stuck watching lists watches

        WORDS
          from etcd       1 of 9 lists: etcd answered one of nine; then the bytes that the lists from etcd returned, and the gets and watches that etcd answered; red if the load on etcd is heavy
          ~ and !         ~ predicted from the request and the server's version; ! contradicted by the answer; no mark: confirmed by the answer; a row has the mark of its least certain request
          relist          a list of a reflector that has listed and watched before, or a watch that sends it all objects again; the lists of a client that never watches are not relists
          lists           each page of a list counts as one; findings count a list with all its pages once
          unchanged       objects that were sent again although the client had this version
          behind          how many revisions a reflector lags behind the newest that was observed of its resource (?: unknown, because no revision was observed, or etcd went back)
          behind etcd     the same, compared with the newest revision of any resource
          storm           many reflectors that relist within seconds
        j k scroll · esc back · q quit
    "#]].assert_eq(&large(&page));
}

#[test]
fn about_page_shows_the_basis_of_the_numbers() {
    let mut page = page(&trouble());
    press(&mut page, "i");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) · feature gates: defaults assumed                                                                                          1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms · 2 open watches · req 0.2/s · events 0/s · 27 requests · 17 MB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 more · 1 object · 14 kB
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
        API SERVER
          version v1.30.4 (/version)
          feature gates: defaults assumed

        VERDICTS
          0 of 22 lists with an unknown verdict
          answers confirmed 0 verdicts and contradicted 16

        NOT OBSERVED
          nothing

        UNPARSED
          nothing

        DROPPED
          nothing

        REQUESTS KEPT ONLY AS COUNTS
          nothing

        ON A RESTART
          on an API server restart: 1 of 2 watching reflectors would relist (1 object, 14 kB), and perhaps 1 more, if there were writes that watchtap did not see
          CLIENT       RESOURCE    SCOPE                        BEHIND ETCD  OBJECTS  BYTES
          kube-rs/2.0  configmaps  default/ · labels app=nginx            1        1  14 kB

        CLIENTS
          in another terminal:
          export KUBECONFIG=watchtap.kubeconfig

        MESSAGES
          nothing
        (13 empty lines)
        j k scroll · esc back · q quit
    "]].assert_eq(&large(&page));
}

#[test]
fn closing_help_restores_the_previous_view() {
    let mut page = page(&trouble());
    press(&mut page, "<enter>");
    let detail = small(&page);
    press(&mut page, "?jj<esc>");
    assert_eq!(small(&page), detail);
    press(&mut page, "i?");
    assert!(small(&page).contains("KEYS"));
    press(&mut page, "<esc><esc>");
    assert!(small(&page).contains("▸"));
}
