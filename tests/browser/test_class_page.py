"""The class's page in a browser: filters, order, links to what a student gets, the leaderboard."""

from pathlib import Path

from browser.made_pages import PAGES
from browser.opened_page import Opener


def test_the_filters_show_those_whom_they_name(opening: Opener, tmp_path: Path) -> None:
    for scripts in (True, False):
        with opening(PAGES["class"](tmp_path), scripts=scripts) as opened:
            rows = opened.page.locator("table.class tbody tr")
            for choice, count in (("lost", 41), ("full", 20), ("none", 0), ("look", 3), ("all", 61)):
                opened.page.locator(f"label[for=students-{choice}]").click()
                assert len([row for row in rows.all() if row.is_visible()]) == count
                assert opened.page.locator(f"label[for=students-{choice}]").inner_text().endswith(str(count))


def test_headings_sort_the_table_and_say_so(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["class"](tmp_path)) as opened:
        points = opened.page.locator("table.class tbody tr td:nth-of-type(1)")
        heading = opened.page.locator("table.class th", has_text="points")
        for key, order in (("Enter", "ascending"), ("Space", "descending")):
            heading.locator("button").press(key)
            values = [float(value) for value in points.all_inner_texts()]
            assert values == sorted(values, reverse=order == "descending")
            assert heading.get_attribute("aria-sort") == order
    with opening(PAGES["class"](tmp_path), scripts=False) as opened:
        assert opened.page.locator("table.class th button").count() == 0  # none that would do nothing


def test_a_cell_leads_to_the_students_test(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["class"](tmp_path)) as opened:
        cell = opened.page.locator("table.class td.bad a").first
        assert "race in shared memory at matmul.cu:" in (cell.locator("..").get_attribute("title") or "")
        cell.click()
        opened.page.wait_for_url("**/students/*.html#test-1")
        target = opened.page.locator(":target")
        assert "multiplies sizes that are multiples of the tile" in target.inner_text()
        assert "race in shared memory" in opened.page.locator("body").inner_text()


def test_the_leaderboard_changes_metric_and_names(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["class"](tmp_path)) as opened:
        shown = opened.page.locator(".boards")
        assert "Student" in shown.inner_text()
        opened.page.locator("label[for=board-1]").click()
        assert "2.66" in shown.inner_text()
        opened.page.locator("label[for=who-aliases]").click()
        assert "Student" not in shown.inner_text()
        assert "amber otter k7q2" in shown.inner_text()
