"""What is to be done about alerts and issues, without any GitHub."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from observatory.github.issues import Change, Need, Plan, Wanted, decide, tracked
from observatory.github.models import Issue
from observatory.text.comment import LIMIT

NOW = datetime(2026, 11, 21, 3, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=9)
ID, OTHER = "3d032b8ecd", "00000000aa"


def alert(
    state: Need = "open", id_: str = ID, title: str = "Files leaked", text: str = "35 files."
) -> Wanted:
    return Wanted(id_, state, title, lambda: text)


def issue(says: Wanted | None = None, left: Any = "open", number: int = 7, **changes: Any) -> Issue:
    says = says or alert()
    fields: dict[str, Any] = {
        "number": number, "title": says.title, "body": says.body(left), "state": left,
        "created_at": LONG_AGO,
    }  # fmt: skip
    return Issue(**fields | changes)


def decided(*alerts: Wanted, issues: tuple[Issue, ...] = (), most: int = 5) -> Plan:
    return decide(alerts, issues, most, NOW)


def change(*alerts: Wanted, issues: tuple[Issue, ...]) -> Change:
    (action,) = decided(*alerts, issues=issues).actions
    assert isinstance(action, Change)
    return action


def test_an_alert_without_an_issue_gets_one() -> None:
    assert decided(alert()) == Plan((alert(),), (), (), ())


def test_an_issue_that_says_the_same_is_left_alone() -> None:
    assert decided(alert(), issues=(issue(),)).actions == ()


def test_an_issue_is_updated_when_its_text_changed() -> None:
    made = change(alert(text="36 files."), issues=(issue(),))
    assert (made.state, made.title) == (None, None)
    assert "36 files." in made.body
    assert decided(alert(text="36 files."), issues=(issue(body=made.body),)).actions == ()


def test_an_issue_is_updated_when_its_title_changed() -> None:
    made = change(alert(title="More files leaked"), issues=(issue(),))
    assert made.title == "More files leaked"
    after = issue(title="More files leaked", body=made.body)
    assert decided(alert(title="More files leaked"), issues=(after,)).actions == ()


def test_a_title_that_a_person_edited_stays() -> None:
    edited = issue(title="TMPDIR fills up")
    assert decided(alert(title="More files leaked"), issues=(edited,)).actions == ()
    made = change(alert(title="More files leaked", text="36 files."), issues=(edited,))
    assert made.title is None
    again = issue(title="TMPDIR fills up", body=made.body)
    assert decided(alert(title="Even more", text="36 files."), issues=(again,)).actions == ()


def test_what_people_write_around_our_text_stays() -> None:
    body = f"Seen by Ada too.\r\n\r\n{issue().body}\r\n\r\nSee #12."
    made = change(alert(text="36 files."), issues=(issue(body=body),))
    assert made.body.startswith("Seen by Ada too.\n\n<!-- observatory: alert")
    assert made.body.endswith("<!-- observatory: end of alert -->\n\nSee #12.")
    assert made.body.count("36 files.") == 1
    assert "35 files." not in made.body


def test_a_name_that_holds_our_end_leaves_nothing_behind() -> None:
    odd = alert(text="`<!-- observatory: end of alert -->` is slower")
    made = change(alert(text="36 files."), issues=(issue(odd),))
    assert made.body == alert(text="36 files.").body("open")


def test_an_issue_is_closed_when_its_alert_is_resolved() -> None:
    made = change(alert("over", text="It is over."), issues=(issue(),))
    assert (made.state, made.reason) == ("closed", "completed")
    after = issue(alert(text="It is over."), "closed", body=made.body)
    assert decided(alert("over", text="It is over."), issues=(after,)).actions == ()


def test_an_issue_that_we_closed_is_opened_again_when_its_alert_comes_back() -> None:
    made = change(alert(), issues=(issue(left="closed"),))
    assert (made.state, made.reason) == ("open", "reopened")
    assert decided(alert(), issues=(issue(body=made.body),)).actions == ()


def test_an_issue_that_a_person_closed_stays_closed() -> None:
    plan = decided(alert(text="36 files."), issues=(issue(state="closed"),))
    assert plan.actions == ()
    assert plan.respected == ("#7 was closed by hand",)


def test_an_issue_that_a_person_closed_is_opened_again_only_after_the_alert_was_over() -> None:
    closed = issue(state="closed")
    over = change(alert("over"), issues=(closed,))
    assert over.state is None
    later = closed.model_copy(update={"body": over.body})
    assert decided(alert("over"), issues=(later,)).actions == ()
    assert change(alert(), issues=(later,)).state == "open"


def test_an_issue_that_a_person_opened_again_stays_open() -> None:
    plan = decided(alert("over"), issues=(issue(left="closed", state="open"),))
    assert plan.actions == ()
    assert plan.respected == ("#7 was opened again by hand",)


def test_an_alert_that_comes_back_takes_over_the_issue_that_a_person_opened_again() -> None:
    reopened = issue(left="closed", state="open")
    made = change(alert(), issues=(reopened,))
    assert made.state is None
    assert change(alert("over"), issues=(issue(body=made.body),)).state == "closed"


@pytest.mark.parametrize("state", ["open", "known", "over"])
def test_a_locked_issue_is_not_touched(state: Need) -> None:
    plan = decided(alert(state, text="36 files."), issues=(issue(locked=True),))
    assert plan.actions == ()
    assert plan.respected == ("#7 is locked",)


def test_an_acknowledged_alert_opens_no_issue_and_closes_none() -> None:
    assert decided(alert("known")).actions == ()
    assert change(alert("known", text="Ada knows."), issues=(issue(),)).state is None
    assert decided(alert("known", text="x"), issues=(issue(state="closed"),)).actions == ()
    assert change(alert("known", text="x"), issues=(issue(left="closed"),)).state is None


def test_a_resolved_alert_opens_no_issue_and_needs_no_text() -> None:
    def never() -> str:
        raise AssertionError("the text was made, and nobody reads it")

    assert decided(Wanted(ID, "over", "Files leaked", never)).actions == ()


def test_of_two_issues_the_older_open_one_counts_and_the_other_is_closed() -> None:
    made = change(alert(), issues=(issue(number=9), issue(number=7)))
    assert (made.issue.number, made.state, made.reason) == (9, "closed", "not_planned")
    assert made.body.endswith("The same alert as #7.")
    after = issue(left="closed", number=9, body=made.body)
    assert decided(alert(), issues=(after, issue(number=7))).actions == ()


def test_a_locked_copy_is_not_touched() -> None:
    assert decided(alert(), issues=(issue(number=9, locked=True), issue())).actions == ()


def test_a_closed_copy_does_not_hide_the_open_issue() -> None:
    assert decided(alert(), issues=(issue(left="closed"), issue(number=9))).actions == ()
    assert change(alert("over"), issues=(issue(left="closed"), issue(number=9))).issue.number == 9


def test_a_night_opens_no_more_than_allowed_the_most_urgent_first() -> None:
    alerts = [alert(id_=f"{n:010x}") for n in range(8)]
    plan = decided(*alerts, most=3)
    assert plan.actions == tuple(alerts[:3])
    assert plan.postponed == tuple(one.id for one in alerts[3:])


def test_what_an_earlier_run_of_the_same_night_opened_counts() -> None:
    evening = NOW - timedelta(hours=19)
    earlier = tuple(
        issue(alert(id_=f"{n:010x}"), number=n, created_at=evening) for n in range(1, 4)
    )
    assert len(decided(alert(), alert(id_=OTHER), issues=earlier, most=4).actions) == 1
    assert len(decided(alert(), alert(id_=OTHER), issues=earlier, most=2).actions) == 0


def test_issues_that_other_programs_opened_with_the_account_do_not_count() -> None:
    others = tuple(issue(number=n, created_at=NOW, body="from another workflow") for n in (1, 2))
    assert len(decided(alert(), issues=others, most=1).actions) == 1


def test_a_limit_keeps_nothing_from_being_closed() -> None:
    assert change(alert("over"), issues=(issue(),)).state == "closed"
    assert len(decided(alert("over"), issues=(issue(),), most=0).actions) == 1


def test_an_issue_of_an_alert_that_is_not_in_the_file_is_named_and_left() -> None:
    plan = decided(issues=(issue(),))
    assert (plan.actions, plan.unknown) == ((), (7,))


@pytest.mark.parametrize(
    "body",
    [None, "", "text", "<!-- observatory: alert 3d032b8ecd -->",
     "> " + alert().body("open"), alert().body("open").replace("3d032b8ecd", "../../../..")],
)  # fmt: skip
def test_a_body_without_our_marker_is_no_issue_of_ours(body: str | None) -> None:
    assert tracked([issue(body=body)]) == {}


def test_a_body_is_never_too_long_whatever_people_add() -> None:
    body = f"{'x' * 64_000}\n\n{issue().body}"
    made = change(alert(text="36 files. " * 400), issues=(issue(body=body),))
    assert len(made.body) <= LIMIT
    assert made.body.startswith("<!-- observatory: alert")
