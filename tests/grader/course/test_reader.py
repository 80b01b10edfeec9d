"""course.toml: what is accepted, and what each mistake is told."""

import json
import re
import tomllib
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from warpgrade.course import course, excerpt, reader, schema
from warpgrade.course.course import Course
from warpgrade.course.reader import CourseMistake
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.lab.speed_curve import curve_mistake
from warpgrade.machine.paths import Layout, find_layout

SCHEMA_FILE = find_layout().root / "docs" / "course.schema.json"
PAGE = (find_layout().root / "docs" / "course-file.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
COURSE = """\
schema = 1
[course]
title = "Threads"
timezone = "Europe/Berlin"
[[lab]]
name = "toy"
weight = 2
due = 2027-03-08
points = { "adds" = 4, "speed" = 30 }
[[lab]]
name = "other"
due = 2027-03-09T10:00:00Z
[late]
percent_per_day = 10
[[extension]]
student = "ada"
lab = "toy"
days = 2
"""


def test_a_course_and_its_dates() -> None:
    file = reader.parse(COURSE)
    assert [(entry.name, entry.weight) for entry in file.lab] == [("toy", 2), ("other", 1)]
    assert file.lab[0].due is not None
    # The end of that day in Berlin, where it is UTC+1.
    assert file.lab[0].due.astimezone(UTC) == datetime(2027, 3, 8, 22, 59, 59, tzinfo=UTC)
    assert course.format_time(file.lab[0].due) == "2027-03-08 23:59 CET"
    assert file.lab[1].due == datetime(2027, 3, 9, 10, tzinfo=UTC)
    begins = reader.parse(COURSE.replace("weight = 2", "hidden_until = 2027-07-01")).lab[0].hidden_until
    assert begins is not None
    assert begins.utcoffset() == timedelta(hours=2)
    assert (begins.hour, begins.minute) == (0, 0)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("schema = 1\n", "", "course.toml:1: the file's schema is missing: begin it with `schema = 1`"),
        ("schema = 1", "schema = 2", "course.toml:1: schema 2 is newer than this: this version of Warpgrade reads"),
        ("schema = 1", 'schema = "1"', "course.toml:1: schema = '1' is unknown"),
        ("schema = 1", "schema = true", "course.toml:1: schema = True is unknown"),
        ('title = "Threads"', "title = Threads", "course.toml:3: is not valid TOML"),
        ('title = "Threads"\n', "", "course.toml:2: [course]: missing key `title`"),
        ('title = "Threads"', 'title = " "', "course.toml:3: title: the course needs one"),
        ("timezone", "time_zone", "due: in which time zone? Write 2027-03-08T23:59:59+01:00, or `timezone ="),
        ("Europe/Berlin", "Europe/Berlni", "course.toml:4: timezone: “Europe/Berlni” is unknown here"),
        ("timezone", 'device = "gpuu"\ntimezone', "course.toml:4: device: “gpuu” is none; use auto, vgpu"),
        ("timezone", 'compiler = "new"\ntimezone', "course.toml:4: compiler: “new” is no version of nvcc"),
        ("weight = 2", "wieght = 2", "course.toml:7: [[lab]] number 1 “toy”: unknown key `wieght`: did you mean"),
        ("weight = 2", "colour = 2", "unknown key `colour`; there are name, weight, points, due, prelab_due, "),
        ("weight = 2", 'weight = "2"', "course.toml:7: [[lab]] number 1 “toy”.weight: Expected `float`, got `str`"),
        ("weight = 2", "weight = -1", "course.toml:7: “toy”: weight must not be below 0"),
        ("weight = 2", "weight = nan", "course.toml:7: “toy”: weight must not be below 0"),
        ("2027-03-08", '"2027-03-08"', "course.toml:8: due: write the date without quotation marks"),
        ("2027-03-08", "2027-02-30", "course.toml:8: is not valid TOML"),
        ('"speed" = 30', '"speed" = -1', "course.toml:9: “toy”, points of “speed”: must not be below 0"),
        ('name = "other"', 'name = "toy"', "course.toml:11: lab “toy” appears twice: remove one of the two"),
        ('name = "other"', 'name = "../x"', "course.toml:11: name: “../x” is no lab's name"),
        ("percent_per_day = 10", "percent_per_day = 101", "course.toml:14: late.percent_per_day must be between 0 and"),
        ("percent_per_day", "hard = true\npercent_per_day", "course.toml:14: late.hard means that nothing late counts"),
        ("percent_per_day", "grace_minutes = -5\npercent_per_day", "course.toml:14: late.grace_minutes must not be"),
        ("percent_per_day", "max_days = 0\npercent_per_day", "course.toml:14: late.max_days must be at least 1"),
        ("percent_per_day", "precent_per_day", "course.toml:14: [late]: unknown key `precent_per_day`: did you mean"),
        ("[late]", '[policy]\nattempts = "first"\n[late]', "course.toml:14: [policy].attempts: Invalid enum value"),
        ("[late]", "[policy]\nrepair_percent = 101\n[late]", "course.toml:14: policy.repair_percent must be between"),
        ("[late]", "[policy]\nmax_attempts = 0\n[late]", "course.toml:14: policy.max_attempts must be at least 1"),
        ("[late]", "[policy]\ncooldown_minutes = -1\n[late]", "toml:14: policy.cooldown_minutes must not be below 0"),
        ("days = 2", "days = 0", "course.toml:18: extension of “ada”: days must be above 0"),
        ("days = 2", "", "course.toml:15: extension of “ada”: give either `until`, a date, or `days`"),
        ("days = 2", "until = 2027-03-01", "course.toml:18: extension of “ada” ends before the lab is due"),
        ('lab = "toy"\ndays', 'lab = "toyy"\ndays', "course.toml:17: extension of “ada”: there is no [[lab]] “toyy”"),
        ('lab = "toy"\ndays = 2', "until = 2027-03-10", "`until` needs a `lab`; for all labs use `days`"),
        ("due = 2027-03-08\n", "", "course.toml:14: extension of “ada”: lab “toy” has no due date"),
        ('student = "ada"', 'student = ""', "course.toml:16: extension: student must not be empty"),
        ("weight = 2", "prelab_due = 2027-03-09", "toml:7: “toy”: its prelab is due after the lab (2027-03-08 23:59)"),
        ("weight = 2", 'prelab_due = "2027-03-01"', "toml:7: prelab_due: write the date without quotation marks"),
        ("weight = 2", 'rubric = [{ name = "style", points = 0 }]', "toml:7: “toy”, rubric: “style”: points must"),
        ("weight = 2", 'rubric = [{ name = "a=b", points = 1 }]', "toml:7: “toy”, rubric: “a=b”: an item"),
        ("weight = 2", 'rubric = [\n{ name = "x", points = 1 },\n{ name = "X", points = 2 }]', "“X” appears twice"),
        ("weight = 2", 'rubric = [{ name = "x", point = 1 }]', "unknown key `point`: did you mean `points`?"),
        ('"speed" = 30 }', '"speed" = 30 }\n[[lab.rubric]]\nname = "x"\npoints = -1', "toml:11: “toy”, rubric: “x”"),
        ("[[lab]]", "[[labs]]", "unknown key `labs`: did you mean `lab`?"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_line(old: str, new: str, complaint: str) -> None:
    assert old in COURSE
    with pytest.raises(CourseMistake) as caught:
        reader.parse(COURSE.replace(old, new, 1))
    told = f"{caught.value.message}\n{caught.value.detail}"
    assert complaint in told
    assert told.startswith("course.toml")


def test_a_prelab_is_due_at_the_end_of_its_day_and_only_where_there_is_one() -> None:
    text = COURSE.replace('name = "toy"\nweight = 2', 'name = "debug"\nprelab_due = 2027-03-01').replace(
        'points = { "adds" = 4, "speed" = 30 }\n', ""
    )
    found = Course(reader.parse(text.replace('lab = "toy"', 'lab = "debug"')))
    due = found.file.lab[0].prelab_due
    assert due is not None
    assert due.astimezone(UTC) == datetime(2027, 3, 1, 22, 59, 59, tzinfo=UTC)
    assert found.facts("debug").startswith("prelab due 2027-03-01 23:59 CET · due 2027-03-08 23:59 CET")
    with pytest.raises(CourseMistake, match="lab “debug” has no prelab"):
        found.applied(labs.find(find_layout(), "debug"))


def test_several_mistakes_are_told_at_once() -> None:
    with pytest.raises(CourseMistake) as caught:
        reader.parse(COURSE.replace("weight = 2", "weight = -2").replace("days = 2", "days = -2"))
    assert "course.toml:18" in caught.value.detail


def test_a_file_that_cannot_be_read(layout: Layout) -> None:
    assert reader.read(layout) is None
    (layout.root / "course.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(CourseMistake, match="is not UTF-8 text"):
        reader.read(layout)
    (layout.root / "course.toml").unlink()
    (layout.root / "course.toml").mkdir()
    with pytest.raises(CourseMistake, match="is not an ordinary file"):
        reader.read(layout)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"speed" = 30', '"sped" = 30', "course.toml:9: lab “toy” has no test “sped”: did you mean “speed”?"),
        ('"adds" = 4, "speed" = 30', '"adds" = 0, "speed" = 0, "adds odd sizes" = 0', "course.toml:5: all points"),
        ('name = "other"', 'name = "tooy"', "course.toml:11: there is no lab “tooy” in labs/: did you mean “toy”?"),
    ],
)  # fmt: skip
def test_a_course_that_does_not_fit_its_labs(layout: Layout, old: str, new: str, complaint: str) -> None:
    text = COURSE.replace(old, new)
    told = [mistake.message for mistake in Course(reader.parse(text), text).mistakes(layout)]
    assert any(complaint in one for one in told), told


def test_points_of_a_lab_and_the_curve_of_its_speed(lab: Lab) -> None:
    one = Course(reader.parse(COURSE), COURSE)
    changed = one.applied(lab)
    assert [item.points for item in changed.items] == [4, 20, 30]
    assert changed.max_points == 54
    (speed,) = changed.file.speed
    assert (speed.vgpu, speed.gpu) == ([(1.0, 0), (3.0, 30)], [(1.0, 0), (2.0, 30)])
    assert all(curve and curve_mistake(curve, 30) == "" for curve in (speed.vgpu, speed.gpu))
    assert lab.max_points == 40
    assert one.share("toy") == pytest.approx(200 / 3)
    assert one.facts("toy") == "due 2027-03-08 23:59 CET · 66.7 % of the course"


def test_a_curve_keeps_its_shape(layout: Layout) -> None:
    file = layout.labs / "toy" / "lab.toml"
    text = file.read_text(encoding="utf-8").replace("[[1.0, 0], [3.0, 10]]", "[[1.0, 0], [2.0, 4], [3.0, 10]]")
    file.write_text(text, encoding="utf-8")
    (speed,) = Course(reader.parse(COURSE), COURSE).applied(labs.find(layout, "toy")).file.speed
    assert speed.vgpu == [(1.0, 0), (2.0, 12), (3.0, 30)]


def test_a_curve_without_points_cannot_be_scaled(layout: Layout) -> None:
    file = layout.labs / "toy" / "lab.toml"
    text = file.read_text(encoding="utf-8")
    nothing = text.replace('"speed"\npoints = 10', '"speed"\npoints = 0').replace("10]]", "0]]")
    file.write_text(nothing, encoding="utf-8")
    with pytest.raises(CourseMistake, match=r"“speed” has 0 points in lab\.toml"):
        Course(reader.parse(COURSE), COURSE).applied(labs.find(layout, "toy"))


def test_the_order_is_the_courses(layout: Layout, lab: Lab) -> None:
    one = Course(reader.parse(COURSE), COURSE)
    assert [each.max_points for each in one.in_order([lab])] == [54]
    assert one.others([lab]) == []


@pytest.mark.parametrize(
    ("pinned", "used", "same"),
    [("13.0", "13.0.88", True), ("13.0.88", "13.0.88", True), ("", "12.4.1", True), ("13.0", "13.01.2", False),
     ("13", "13.2.1", True), ("13.0.8", "13.0.88", False), ("12.4", "13.0.88", False)],
)  # fmt: skip
def test_which_compiler_is_the_courses(pinned: str, used: str, same: bool) -> None:
    text = COURSE.replace("timezone", f'compiler = "{pinned}"\ntimezone')
    assert Course(reader.parse(text)).is_pinned_compiler(used) is same


def test_the_example_of_the_guide_fits_the_projects_labs() -> None:
    example = Course(reader.parse(EXAMPLE), EXAMPLE)
    assert [mistake.message for mistake in example.mistakes(find_layout())] == []
    matmul = example.applied(labs.find(find_layout(), "matmul"))
    assert matmul.max_points == 106


def test_the_guide_explains_every_key() -> None:
    keys = {key for struct in (schema.CourseHead, schema.LabEntry, schema.Late, schema.Policy, schema.Extension)
            for key in struct.__struct_fields__}  # fmt: skip
    table = PAGE.partition("## Keys")[2]
    assert {key for key in keys if f"`{key}`" not in table} == set()


def test_the_schema_in_docs_is_the_one_of_the_code() -> None:
    code = "from warpgrade.course import schema; print(schema.json_schema().decode(), end='')"
    remake = f'PYTHONPATH=grader .venv/bin/python -c "{code}"'
    assert SCHEMA_FILE.read_bytes() == schema.json_schema(), f"remake it: {remake} > docs/course.schema.json"


def test_the_schema_takes_the_example_and_refuses_what_is_none() -> None:
    known = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(known)
    document = json.loads(json.dumps(tomllib.loads(EXAMPLE), default=lambda moment: moment.isoformat()))
    jsonschema.validate(document, known)
    wrong: list[dict[str, object]] = [
        {"schema": 2}, {"course": {}}, {"lab": [{"name": "x", "wieght": 1}]}, {"late": {"hard": "yes"}}
    ]  # fmt: skip
    for change in wrong:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**document, **change}, known)


def test_what_leaves_the_course_has_one_lab_and_no_student() -> None:
    whole = course.Course(reader.parse(COURSE), COURSE)
    text = excerpt.lab_excerpt(whole, "toy", ["adds", "speed"])
    assert "ada" not in text
    assert "other" not in text
    part = reader.parse(text)
    assert part.lab == [whole.file.lab[0]]
    assert (part.late, part.policy, part.course.title) == (whole.file.late, whole.file.policy, "Threads")
    assert excerpt.lab_excerpt(whole, "none", []) == ""
    assert reader.parse(excerpt.lab_excerpt(whole, "toy", ["adds"])).lab[0].points == {"adds": 4}
    example = course.Course(reader.parse(EXAMPLE), EXAMPLE)
    entry = example.entry("matmul")
    assert entry is not None
    own_offsets = excerpt.lab_excerpt(example, "matmul", list(entry.points))
    assert "Berlin" not in own_offsets  # a machine that grades may have no database of time zones
    assert reader.parse(own_offsets).lab == [entry]
    light = reader.parse(COURSE.replace("weight = 2", "weight = 0"))
    assert reader.parse(excerpt.lab_excerpt(course.Course(light), "toy", [])).lab[0].weight == 1
