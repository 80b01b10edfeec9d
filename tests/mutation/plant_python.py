"""Faults for Python, the same ones as for C++: where they are, the parser says."""

import ast
import io
import tokenize

from fault import NAMES, OPERATORS, Fault, change_number, count_equal, find_line

_WORDS = {"and": "or", "or": "and", "is": "is not", "in": "not in", "//": "*"}


def find_faults(path: str, source: bytes) -> list[Fault]:
    """Return all faults that can be planted in a Python file."""
    return count_equal(_Planter(path, source).run())


class _Planter(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))
        # (offset, text) of operators and words: strings and comments are none.
        self.words: list[tuple[int, str]] = []
        for token in tokenize.generate_tokens(io.StringIO(source.decode(), newline="").readline):
            if token.type in {tokenize.OP, tokenize.NAME}:
                row, column = token.start
                self.words.append((self.starts[row - 1] + len(token.line[:column].encode()), token.string))
        self.faults: list[Fault] = []

    def run(self) -> list[Fault]:
        self.visit(ast.parse(self.source))
        return self.faults

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def _add(self, kind: str, begin: int, end: int, replacement: str) -> None:
        line, text = find_line(self.source, begin)
        self.faults.append(Fault(self.path, begin, line, kind, self.source[begin:end].decode(), replacement, text))

    def _between(self, left: int, right: int) -> list[tuple[int, str]]:
        return [(at, word) for at, word in self.words if left <= at < right and word not in {"(", ")"}]

    def _change_operator(self, left: int, right: int) -> None:
        words = self._between(left, right)
        if not words:
            return
        begin = words[0][0]
        end = words[-1][0] + len(words[-1][1].encode())
        text = " ".join(word for _, word in words)
        if text in {"is not", "not in"}:
            self._add("operator", begin, end, text.replace("not", "").strip())
        elif text in _WORDS:
            self._add("operator", begin, end, _WORDS[text])
        else:
            for other in OPERATORS.get(text, ()):
                self._add("operator", begin, end, other)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            self._change_operator(self._end(left), self._begin(right))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._change_operator(self._end(node.left), self._begin(node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._change_operator(self._end(left), self._begin(right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._change_operator(self._end(node.target), self._begin(node.value))
        self._drop(node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._add("operator", self._begin(node), self._begin(node.operand), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add("constant", self._begin(node), self._end(node), str(not node.value))
        elif isinstance(node.value, int | float):
            for number in change_number(self.source[self._begin(node) : self._end(node)].decode()):
                self._add("constant", self._begin(node), self._end(node), number)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in NAMES:
            self._add("swapped name", self._begin(node.func), self._end(node.func), NAMES[node.func.id])
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if isinstance(test, ast.Compare | ast.UnaryOp):
            return  # the other operators make this fault
        begin, end = self._begin(test), self._end(test)
        self._add("negated condition", begin, end, f"(not ({self.source[begin:end].decode()}))")

    def visit_If(self, node: ast.If) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def _drop(self, node: ast.stmt) -> None:
        self._add("dropped statement", self._begin(node), self._end(node), "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        self._drop(node)
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._drop(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._drop(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._drop(node)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._drop(node)
        self.generic_visit(node)

    # Annotations are never evaluated.
    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in [*node.defaults, *(one for one in node.kw_defaults if one is not None)]:
            self.visit(default)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)
        self._drop_early_returns(node.body)

    def _drop_early_returns(self, body: list[ast.stmt]) -> None:
        """Those in a branch that others follow."""
        for statement in body:
            if isinstance(statement, ast.If):
                for branch in (statement.body, statement.orelse):
                    if branch and isinstance(branch[-1], ast.Return) and statement is not body[-1]:
                        self._drop(branch[-1])
                    self._drop_early_returns(branch)
            elif isinstance(statement, ast.For | ast.While | ast.With | ast.Try):
                for branch in (statement.body, getattr(statement, "orelse", [])):
                    self._drop_early_returns(branch)
