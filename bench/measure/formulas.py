"""The expressions of task.json and of launch lines: C's operators and precedence, `/` truncates, and ceil_div, min, max, sqrt. Needs nothing
but Python. docs/writing_a_task.md describes them."""
import math
import re

TOKEN = re.compile(r"\s*(?:(\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\d+)|(\w+)|(\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%()<>?:,!~&|^]))")
LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]


class BadFormula(ValueError):
    """The text is no expression, or it cannot be evaluated with these values."""


def divide(a, b):
    if b == 0:
        raise BadFormula("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATORS = {
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "&": lambda a, b: a & b, "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b), ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b, "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": divide, "%": lambda a, b: a - b * divide(a, b),
}
FUNCTIONS = {"ceil_div": (2, lambda a, b: -divide(-a, b) if a % b == 0 else divide(a, b) + 1), "min": (2, min), "max": (2, max),
             "sqrt": (1, math.sqrt)}


class Parser:
    """A recursive descent that evaluates as it reads; what `&&`, `||` and `? :` skip is read without being evaluated."""

    def __init__(self, text, names):
        self.names, self.tokens, at = names, [], 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            if not found:
                raise BadFormula(f"`{text}`: `{text[at:].strip()}` is not understood")
            self.tokens.append(found.group(0).strip())
            at = found.end()
        self.text, self.at = text, 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        if not token or (expected and token != expected):
            raise BadFormula(f"`{self.text}`: {expected or 'a value'} expected, found `{token or 'the end'}`")
        self.at += 1
        return token

    def ternary(self, live):
        value = self.binary(0, live)
        if self.peek() != "?":
            return value
        self.take()
        yes = self.ternary(live and bool(value))
        self.take(":")
        no = self.ternary(live and not value)
        return yes if value else no

    def binary(self, level, live):
        if level == len(LEVELS):
            return self.unary(live)
        left = self.binary(level + 1, live)
        while self.peek() in LEVELS[level]:
            operator = self.take()
            if operator in ("&&", "||"):
                right = self.binary(level + 1, live and bool(left) == (operator == "&&"))
                left = int(bool(left) and bool(right)) if operator == "&&" else int(bool(left) or bool(right))
                continue
            right = self.binary(level + 1, live)
            left = OPERATORS[operator](left, right) if live else 1
        return left

    def unary(self, live):
        token = self.take()
        if token in ("-", "+", "!", "~"):
            value = self.unary(live)
            return {"-": lambda: -value, "+": lambda: value, "!": lambda: int(not value), "~": lambda: ~value}[token]()
        if token == "(":
            value = self.ternary(live)
            self.take(")")
            return value
        if token[0].isdigit() or token[0] == ".":
            return int(token) if token.isdigit() else float(token)
        if self.peek() == "(" and token in FUNCTIONS:
            return self.call(token, live)
        if not re.fullmatch(r"\w+", token):
            raise BadFormula(f"`{self.text}`: `{token}` is not expected there")
        if token not in self.names:
            raise BadFormula(f"`{self.text}`: nothing is called {token}")
        return self.names[token]

    def call(self, name, live):
        count, function = FUNCTIONS[name]
        self.take("(")
        values = [self.ternary(live)]
        while self.peek() == ",":
            self.take()
            values.append(self.ternary(live))
        self.take(")")
        if len(values) != count:
            raise BadFormula(f"`{self.text}`: {name} takes {count} values")
        return function(*values) if live else 1


def evaluate(expression, names):
    """The value of an expression, or of a number as it stands. Raises BadFormula."""
    if isinstance(expression, (int, float)) and not isinstance(expression, bool):
        return expression
    parser = Parser(str(expression), names)
    try:
        value = parser.ternary(True)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as wrong:
        raise wrong if isinstance(wrong, BadFormula) else BadFormula(f"`{expression}`: {wrong}") from None
    if parser.peek():
        raise BadFormula(f"`{expression}`: `{parser.peek()}` is not expected there")
    return value
