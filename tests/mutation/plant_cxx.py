"""Faults for C++: found among the words of a file, as no packaged tool that plants them in C++ is to be had.

Works on our own style: clang-format puts spaces around binary operators, and none inside of template arguments. What
then does not compile is left out by whoever builds it.
"""

import re
from dataclasses import dataclass

from fault import NAMES, OPERATORS, Fault, change_number, count_equal, find_line

_TOKEN = re.compile(
    rb"""
      (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
    | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
                 |(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.])*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<space>\s+)
    | (?P<mark_of>->\*?|<=>|<<=|>>=|\.\.\.|::|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_AFTER_SIGNATURE = {")", "]", "const", "noexcept", "override", "final", "mutable", "else", "do", "try"}
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_HEADS = {"if", "for", "while", "switch", "catch"}
_NO_EXPRESSION = {
    "alignas", "auto", "bool", "case", "char", "class", "const", "constexpr", "default", "delete", "do", "double",
    "else", "enum", "extern", "float", "for", "friend", "goto", "if", "inline", "int", "long", "new", "operator",
    "short", "signed", "static", "static_assert", "struct", "switch", "template", "throw", "try", "typedef",
    "typename", "union", "unsigned", "using", "void", "volatile", "while",
}  # fmt: skip


@dataclass(frozen=True)
class Token:
    """A word of the file."""

    text: str
    kind: str
    offset: int
    spaced: bool  # white space on both sides


@dataclass
class _Scope:
    kind: str  # of an opening bracket: code, class, list (initializers), round (parentheses) or square
    first: int  # of its tokens
    head: int  # where the statement around it begins


def read_tokens(source: bytes) -> list[Token]:
    """Return the words of the code: neither comments nor the preprocessor's lines."""
    tokens = []
    for match in _TOKEN.finditer(source):
        kind = match.lastgroup or ""
        # The mark of a raw string is a group inside of it.
        kind = "string" if kind == "mark" else "mark" if kind == "mark_of" else kind
        if kind in {"comment", "directive", "space"}:
            continue
        before, behind = source[match.start() - 1 : match.start()], source[match.end() : match.end() + 1]
        tokens.append(Token(match[0].decode(), kind, match.start(), before.isspace() and behind.isspace()))
    return tokens


def find_faults(path: str, source: bytes) -> list[Fault]:
    """Return all faults that can be planted in a C++ file."""
    return count_equal(_Planter(path, source).run())


class _Planter:
    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.tokens = read_tokens(source)
        self.partner = self._match_brackets()
        self.skipped = self._find_skipped()
        self.faults: list[Fault] = []

    def run(self) -> list[Fault]:
        for at, token in enumerate(self.tokens):
            if at not in self.skipped:
                self._change_word(at, token)
        self._read_statements()
        return self.faults

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _add(self, kind: str, first: int, last: int, replacement: str) -> None:
        begin = self.tokens[first].offset
        end = self.tokens[last].offset + len(self.tokens[last].text.encode())
        line, text = find_line(self.source, begin)
        original = self.source[begin:end].decode()
        self.faults.append(Fault(self.path, begin, line, kind, original, replacement, text))

    def _match_brackets(self) -> dict[int, int]:
        partner: dict[int, int] = {}
        opened: list[int] = []
        for at, token in enumerate(self.tokens):
            if token.kind != "mark":
                continue
            if token.text in "([{":
                opened.append(at)
            elif token.text in ")]}" and opened:
                partner[at] = opened.pop()
                partner[partner[at]] = at
        return partner

    def _find_skipped(self) -> set[int]:
        """What no test can see: static assertions, `[[attributes]]`, and the 0 of `virtual … = 0`."""
        skipped: set[int] = set()
        for at, token in enumerate(self.tokens):
            if token.text == "static_assert" and self._text(at + 1) == "(":
                skipped.update(range(at, self.partner.get(at + 1, at) + 1))
            elif token.text == "[" and self._text(at + 1) == "[":
                skipped.update(range(at, self.partner.get(at, at) + 1))
            elif token.text == "0" and self._text(at - 1) == "=" and self._text(at - 2) in {")", "const", "noexcept"}:
                skipped.add(at)
        return skipped

    def _change_word(self, at: int, token: Token) -> None:
        before = self._text(at - 1)
        if before == "operator":
            return
        if token.kind == "number":
            for number in change_number(token.text):
                self._add("constant", at, at, number)
        elif token.kind == "name":
            if token.text in {"true", "false"}:
                self._add("constant", at, at, "false" if token.text == "true" else "true")
            elif token.text in NAMES and self._text(at + 1) in {"(", "<"} and not self._is_limit(at):
                self._add("swapped name", at, at, NAMES[token.text])
            elif token.text in {"if", "while"}:
                self._negate_condition(at)
        elif token.kind == "mark":
            self._change_operator(at, token)

    def _change_operator(self, at: int, token: Token) -> None:
        if token.text in {"&&", "||"} and token.spaced:
            self._add("operator", at, at, "||" if token.text == "&&" else "&&")
        elif token.text in {"++", "--"}:
            self._add("operator", at, at, "--" if token.text == "++" else "++")
        elif token.text == "!" or (token.text == "~" and not self._is_destructor(at)):
            self._add("operator", at, at, "")
        elif token.text in OPERATORS and token.spaced:
            for other in OPERATORS[token.text]:
                self._add("operator", at, at, other)

    def _is_limit(self, at: int) -> bool:
        return self._text(at + 1) == "(" and self._text(at + 2) == ")" and self._text(at - 1) == "::"

    def _is_destructor(self, at: int) -> bool:
        follows = self._text(at - 1) in {"", ";", "{", "}", ":", "::", "virtual"}
        return follows and bool(re.match(r"[A-Z]", self._text(at + 1)))

    def _negate_condition(self, at: int) -> None:
        start = at + 2 if self._text(at + 1) in {"constexpr"} else at + 1
        if self._text(start) != "(" or start not in self.partner:
            return
        first, last = start + 1, self.partner[start] - 1
        inner = first
        while inner <= last:
            if self._text(inner) in {"(", "[", "{"}:
                inner = self.partner.get(inner, inner)
            elif self._text(inner) == ";":
                first = inner + 1
            inner += 1
        inner = first
        while inner <= last:
            if self._text(inner) in {"(", "[", "{"}:
                inner = self.partner.get(inner, inner)
            elif self._text(inner) == "=":
                return  # declares what it tests
            inner += 1
        # The other operators make this fault of a condition that is only `!x` or `a == b`.
        words = [self._text(k) for k in range(first, last + 1)]
        if not words or words[0] == "!" or (_COMPARISONS & set(words) and not {"&&", "||"} & set(words)):
            return
        original = self.source[
            self.tokens[first].offset : self.tokens[last].offset + len(self.tokens[last].text.encode())
        ].decode()
        self._add("negated condition", first, last, f"!({original})")

    # Statements: a stack of brackets says where one can begin.
    def _read_statements(self) -> None:
        stack = [_Scope("class", 0, 0)]
        at = 0
        start = True  # a statement or declaration can begin here
        segment = 0  # where the present one began
        while at < len(self.tokens):
            token = self.tokens[at]
            if start:
                segment = at
                if stack[-1].kind == "code":
                    self._drop_statement(at)
            start = False
            if token.kind == "mark" and token.text in {"(", "["}:
                stack.append(_Scope("round", at, segment))
            elif token.kind == "mark" and token.text == "{":
                stack.append(_Scope(self._kind_of_brace(at, segment, stack[-1].kind), at, segment))
                start = stack[-1].kind != "list"
            elif token.kind == "mark" and token.text in {")", "]", "}"} and len(stack) > 1:
                closed = stack.pop()
                segment = closed.head
                start = token.text == "}" and closed.kind != "list" and stack[-1].kind in {"code", "class"}
                if token.text == ")" and stack[-1].kind == "code" and self._is_head(closed.first):
                    start = True
            elif token.text == ";" and token.kind == "mark":
                start = stack[-1].kind in {"code", "class"}
            elif token.text in {"else", "do"} or (token.text == ":" and self._ends_label(at, segment, stack[-1].kind)):
                start = True
            at += 1

    def _ends_label(self, at: int, segment: int, scope: str) -> bool:
        of_switch = scope == "code" and self._text(segment) in {"case", "default"}
        return of_switch or self._text(at - 1) in {"public", "private", "protected"}

    def _is_head(self, opening: int) -> bool:
        return self._text(opening - 1) in _HEADS or (
            self._text(opening - 1) == "constexpr" and self._text(opening - 2) == "if"
        )

    def _kind_of_brace(self, at: int, segment: int, around: str) -> str:
        words = {self._text(k) for k in range(segment, at)}
        first = self._text(segment)
        before = self._text(at - 1)
        if "namespace" in words or first == "extern":
            return "class"
        if "enum" in words and before not in _AFTER_SIGNATURE:
            return "list"
        if {"struct", "class", "union"} & words and before not in _AFTER_SIGNATURE and "=" not in words:
            return "class"
        if before in _AFTER_SIGNATURE:
            return "code"
        if before in {";", "{", "}", ":", ""} and around in {"code", "class"}:
            return "code" if around == "code" or before == "}" else "class"
        # `-> Type {`
        k = at - 1
        while k > segment and (self.tokens[k].kind == "name" or self._text(k) in {"::", "<", ">", ">>", "*", "&", ","}):
            k -= 1
        return "code" if self._text(k) == "->" and self._text(k - 1) in {")", "mutable", "]"} else "list"

    def _drop_statement(self, at: int) -> None:
        end = self._end_of_statement(at)
        if end is None:
            return
        first = self._text(at)
        if first in {"break", "continue"}:
            self._add("dropped statement", at, end, ";")
        elif first in {"return", "throw"}:
            # Only early ones: what follows must still be there to run.
            opening = self._opening_of_branch(at)
            if opening is not None and self._is_head(opening):
                self._add("dropped statement", at, end, ";")
        elif self._is_expression(at):
            self._add("dropped statement", at, end, ";")

    def _opening_of_branch(self, at: int) -> int | None:
        """The parenthesis of the `if (…)` whose branch begins here, with a brace or without."""
        closing = at - 2 if self._text(at - 1) == "{" else at - 1
        return self.partner.get(closing) if self._text(closing) == ")" else None

    def _end_of_statement(self, at: int) -> int | None:
        while at < len(self.tokens):
            text = self._text(at)
            if text == ";":
                return at
            if text in {"(", "[", "{"} and self.tokens[at].kind == "mark":
                at = self.partner.get(at, len(self.tokens))
            elif text in {")", "]", "}"} and self.tokens[at].kind == "mark":
                return None
            at += 1
        return None

    def _is_expression(self, at: int) -> bool:
        token = self.tokens[at]
        if token.kind == "mark":
            return token.text in {"*", "++", "--", "("}
        if token.kind != "name" or token.text in _NO_EXPRESSION:
            return False
        at += 1
        while True:
            if self._text(at) == "::":
                at += 2
            elif self._text(at) == "<" and not self.tokens[at].spaced:
                depth = 0
                while at < len(self.tokens):
                    depth += {"<": 1, ">": -1, ">>": -2}.get(self._text(at), 0)
                    at += 1
                    if depth <= 0:
                        break
            else:
                break
        following = self._text(at)
        if following in {"&", "*", "&&", "{", ":"}:
            return False
        return self.tokens[at].kind == "mark"
