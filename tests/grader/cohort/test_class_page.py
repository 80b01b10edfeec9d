"""The page of a class: what a third's mistake looks like, where its links lead, and that names are only names."""

import html.parser
import json
import re
import time
from pathlib import Path

import class_of_sixty
import msgspec
import pytest
from hostile import ANY, HOSTILE
from hypothesis import example, given

from warpgrade.cohort import class_page, outputs
from warpgrade.cohort.class_page import ClassPages
from warpgrade.cohort.row import Row
from warpgrade.cohort.store import Store


class Links(html.parser.HTMLParser):
    def __init__(self, content: str) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.ids: set[str] = set()
        self.words = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given_ = dict(attrs)
        self.tags.append((tag, given_))
        self.hrefs += [given_["href"] or ""] if "href" in given_ else []
        self.ids |= {given_["id"] or ""} if "id" in given_ else set()

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = class_of_sixty.make(tmp_path_factory.mktemp("class"))
    class_of_sixty.write(store)
    return store


def read(store: Store, name: str = class_page.PAGE) -> Links:
    return Links((store.folder / name).read_text(encoding="utf-8"))


def test_a_third_that_forgot_the_barrier_stands_out(sixty: Store) -> None:
    page = (sixty.folder / class_page.PAGE).read_text(encoding="utf-8")
    missed = page.partition("Tests most missed")[2].partition("</table>")[0]
    first = missed.split("<tr>")[2]
    assert '<td class="number">20</td>' in first
    assert re.search(r">race in shared memory</a> 20", first)
    help_ = page.partition("Who needs help")[2].partition("</details>")[0]
    assert "<strong>race in shared memory</strong> 20" in help_
    assert re.search(r'<a href="students/s000.html">Student 0</a> <span class="dim">matmul.cu:40</span>', help_)
    cells = re.findall(r'<td class="bad" title="([^"]*)"', page)
    assert sum("race in shared memory at matmul.cu:4" in cell for cell in cells) == 60  # three tests of twenty
    words = read(sixty).words
    assert "61 students" in words
    assert "nothing handed in" in words
    assert "its result was not computed by the device" in words


def test_every_link_leads_somewhere(sixty: Store) -> None:
    page = read(sixty)
    pages: dict[str, Links] = {}
    assert any("#test-" in link for link in page.hrefs)
    for link in page.hrefs:
        file, _, place = link.partition("#")
        if not file:
            assert place in page.ids, link
        elif file.endswith(".html"):
            there = pages.setdefault(file, read(sixty, file))
            assert not place or place in there.ids, link
        else:
            assert (sixty.folder / file).is_file(), link
    assert len(pages) == 61  # those of students, and that of answers


def test_a_students_page_is_what_the_student_gets(sixty: Store, tmp_path: Path) -> None:
    page = read(sixty, "students/s000.html")
    assert "C: 7 of 63 elements are wrong" in page.words
    # Before the date the class's page shows hidden tests, which no student's page does.
    early = Store(class_of_sixty.make(tmp_path / "early", 3).folder)
    rows = class_of_sixty.write(early)
    class_page.write(early, "Adding vectors", rows, early.result_of, "2999-01-01T00:00:00+00:00", lambda row: "")
    hidden = "keeps NaN and infinity"
    assert hidden in read(early).words
    assert hidden not in read(early, "students/s000.html").words
    links = [link for link in read(early).hrefs if link.startswith("students/")]
    assert all("#" not in link or link.partition("#")[2] in read(early, link.partition("#")[0]).ids for link in links)
    assert "without hidden tests before" in read(early).words


def test_pages_are_written_when_something_has_changed(tmp_path: Path) -> None:
    store = class_of_sixty.make(tmp_path / "class", 4)
    class_of_sixty.write(store, "plain")
    page = store.folder / class_page.PAGE
    page.write_text("as before")
    (store.folder / "students" / "gone.html").write_text("of one who left")
    class_of_sixty.write(store, "plain")
    assert page.read_text() == "as before"
    pair = {"left": "Ada", "right": "<b>Kai", "left_percent": 93.0, "right_percent": 70.0, "tokens": 120, "pieces": []}
    (store.folder / "similar.json").write_text(json.dumps({"compared": 4, "pairs": [pair]}))
    class_of_sixty.write(store, "plain")
    assert "93 % of Ada" in read(store).words
    assert "70 % of <b>Kai" in read(store).words
    assert not (store.folder / "students" / "gone.html").exists()
    for wrong in ("", "[]", '{"pairs": 3}', '{"pairs": [{"left": "x"}]}'):
        (store.folder / "similar.json").write_text(wrong)
        class_of_sixty.write(store, "plain")
        assert "Not compared" in read(store).words


def test_the_leaderboard_has_names_or_aliases(tmp_path: Path) -> None:
    store = class_of_sixty.make(tmp_path / "class", 4)
    class_of_sixty.write(store)
    assert "who-aliases" not in read(store).ids
    store.save_aliases({"s001": "amber otter k7q2"})
    class_of_sixty.write(store)
    page = read(store)
    assert "who-aliases" in page.ids
    assert "amber otter k7q2" in page.words
    assert {"board-0", "board-1"} <= page.ids  # points, and what a public test measured


def test_no_name_is_markup(sixty: Store) -> None:
    page = read(sixty)
    assert not [tag for tag, _ in page.tags if tag in ("img", "b", "iframe", "object")]
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert '</script><img src=x onerror="alert(1)">' in page.words


@ANY
@given(words=HOSTILE)
@example(words='"><script>alert(1)</script>')
@example(words="{{ 7 * 7 }}{% raw %}")
def test_hostile_words_stay_words(words: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    store = Store(tmp_path_factory.getbasetemp() / "hostile")
    (store.folder).mkdir(exist_ok=True)
    result = class_of_sixty._result(0, 1)
    tests = [msgspec.structs.replace(test, name=words, message=words, signs=[words]) for test in result.tests[:2]]
    row = Row(words or "x", words, words, "graded", 3.0, 10.0, problem=words, result="results/x.json", attempts=1,
              review=[words], metrics={words: 3.0})  # fmt: skip
    pages = ClassPages(store, words, "", lambda row: words)
    pages.add(row, msgspec.structs.replace(result, tests=tests))
    page = Links(pages.render().decode())
    assert not [tag for tag, _ in page.tags if tag in ("img", "b", "iframe", "object")]
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    for _, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style")]
    assert all(re.match(r"#|students/[a-z0-9._-]+\.html|results/", link) for link in page.hrefs)


def test_its_time_grows_as_the_class_does(tmp_path: Path) -> None:
    """Processor time of this process, compared with its own for a smaller class."""
    taken = []
    for count in (30, 300):
        store = class_of_sixty.make(tmp_path / str(count), count)
        began = time.process_time()
        class_of_sixty.write(store)
        taken.append(time.process_time() - began)
    assert taken[1] < 40 * taken[0]
    assert outputs.TABLE in {path.name for path in store.folder.iterdir()}
    print(taken)
