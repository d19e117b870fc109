# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic in study files: {2 * cores} in a value, and the conditions behind `when`. Names are
the settings of the point and what is known of the system. Only what is listed here is evaluated:
a study file cannot run code."""
import ast
import keyword
import math
import operator
import re

FUNCTIONS = {
    'min': min, 'max': max, 'abs': abs, 'sqrt': math.sqrt,
    'round': lambda x, digits=0: round(x, max(-300, min(300, digits))),
    'floor': lambda x: int(math.floor(x)), 'ceil': lambda x: int(math.ceil(x)),
    'cbrt': lambda x: math.copysign(abs(x) ** (1.0 / 3.0), x),
}
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}

MAGNITUDE_MAX = 1e300  # of numbers: beyond, whole ones grow without end


def number_or_text(text):
    """'4' -> 4, '0.5' -> 0.5, 'token' -> 'token'."""
    for kind in (int, float):
        try:
            value = kind(text)
        except (TypeError, ValueError):
            continue
        return value if abs(value) < MAGNITUDE_MAX else text
    return text


class _Evaluator(ast.NodeVisitor):
    def __init__(self, names):
        self.names = names

    def generic_visit(self, node):
        raise ValueError('%s is not allowed here' % type(node).__name__)

    def visit_Constant(self, node):
        return node.value

    def visit_Name(self, node):
        if node.id not in self.names:
            raise ValueError("'%s' is not known; there are %s" % (
                node.id, ', '.join(sorted(n.rstrip('_') for n in self.names))))
        return self.names[node.id]

    def visit_Tuple(self, node):
        return tuple(self.visit(e) for e in node.elts)

    visit_List = visit_Tuple

    def visit_UnaryOp(self, node):
        return OPERATORS[type(node.op)](self.visit(node.operand))

    def visit_BinOp(self, node):
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Pow) and abs(right) > 64:
            raise ValueError('an exponent above 64')
        if isinstance(left, str) or isinstance(right, str):
            raise ValueError("no arithmetic with text: '%s', '%s'" % (left, right))
        value = OPERATORS[type(node.op)](left, right)
        if not abs(value) < MAGNITUDE_MAX:
            raise ValueError('a number that is too large')
        return value

    def visit_BoolOp(self, node):
        if isinstance(node.op, ast.And):
            return all(self.visit(v) for v in node.values)
        return any(self.visit(v) for v in node.values)

    def visit_IfExp(self, node):
        return self.visit(node.body if self.visit(node.test) else node.orelse)

    def visit_Compare(self, node):
        left = self.visit(node.left)
        for op, right_node in zip(node.ops, node.comparators):
            right = self.visit(right_node)
            if not OPERATORS[type(op)](left, right):
                return False
            left = right
        return True

    def visit_Call(self, node):
        name = getattr(node.func, 'id', None)
        if name not in FUNCTIONS or node.keywords:
            raise ValueError('no such function; there are %s' % ', '.join(sorted(FUNCTIONS)))
        return FUNCTIONS[name](*[self.visit(a) for a in node.args])


def _spelled(name):
    """A key such as `class`, that Python keeps for itself, under another name."""
    return name + '_' if keyword.iskeyword(name) else name


def evaluate(text, names):
    """Value of an expression. names: {name: number or text}. Raises ValueError with a reason."""
    taken = [n for n in names if keyword.iskeyword(n)]
    for name in taken:
        text = re.sub(r'\b%s\b' % name, _spelled(name), text)
    try:
        return _Evaluator({_spelled(n): v for n, v in names.items()}).visit(
            ast.parse(text.strip(), mode='eval').body)
    except SyntaxError:
        raise ValueError('not understood')
    except (RecursionError, MemoryError):
        raise ValueError('nested too deeply')
    except KeyError:
        raise ValueError('an operation that is not allowed here')
    except (TypeError, ArithmeticError) as e:
        raise ValueError(str(e))


def text_of(value):
    """A value as it stands on a command line: whole numbers without a decimal point."""
    if isinstance(value, (int, float)) and not abs(value) < MAGNITUDE_MAX:
        raise ValueError('no number that can be written down')
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return str(value)
