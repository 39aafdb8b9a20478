#!/usr/bin/env python3
"""Writes jinja2.json.gz: small templates with what jinja2 makes of them, set up as transformers sets it up.

    python3 make_jinja2.py

Needs Python 3 and jinja2 3.1.6. The same seed gives the same file, so a second run shows what a change of jinja2 would
change. TestAsJinja2 renders the templates in the sandbox and compares. An error is recorded as its class alone.
"""

import copy
import datetime
import gzip
import itertools
import json
import os
import random
import re
import signal

import jinja2
import jinja2.ext
import jinja2.sandbox

SEED = int(os.environ.get("SEED", "20260731"))
NOW = "2025-07-29T13:05:09"
VARIABLES = {
    "s": "Hello World",
    "e": "",
    "u": "Zoë naïve ß",
    "n": None,
    "t": True,
    "f": False,
    "i": 7,
    "neg": -3,
    "z": 0,
    "fl": 1.5,
    "big": 123456789012345678901234567890,
    "l": [1, 2, 3],
    "ls": ["b", "a", "C", "a"],
    "mixed": [1, "a", None, True, 2.5],
    "nest": [[1, 2], [3, [4]], []],
    "d": {"b": 1, "a": {"x": [1, None, True]}, "items": "it", "_p": "private"},
    "em": [],
    "ed": {},
    "ld": [{"n": "x", "v": 2, "k": {"m": "B"}}, {"n": "y", "v": 1, "k": {"m": "a"}}, {"n": "X", "v": 3}, {"n": "x", "v": 2}],
    "tree": [{"n": "r", "c": [{"n": "a", "c": []}, {"n": "b", "c": [{"n": "c"}]}]}],
    "lines": "a\nb\r\nc\rd\n\ne",
    "q": "it's \"q\"\n\ttab\\",
    "html": "<a href='x'>&</a>",
    "num": "42",
    "messages": [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Hi <b>"},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": "é"}}}]},
        {"role": "tool", "content": [{"type": "text", "text": "42"}]},
    ],
}


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_support"), [], [], body).set_lineno(lineno)

    def _support(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = datetime.datetime.fromisoformat(NOW).strftime
    return env


def expressions():
    """Single expressions, by area."""
    names = ["s", "e", "u", "n", "t", "f", "i", "neg", "fl", "big", "l", "ls", "mixed", "nest", "d", "em", "ed", "ld", "lines",
             "q", "html", "num", "missing", "range(4)", "(1, 2)", "d.items()", "ls|map('upper')", "namespace(a=1)", "1.0", "()"]
    plain = ["upper", "lower", "capitalize", "title", "trim", "length", "first", "last", "list", "reverse", "sort", "unique", "sum",
             "min", "max", "int", "float", "string", "abs", "round", "join", "escape", "safe", "striptags", "tojson", "items",
             "dictsort", "wordcount", "default('D')", "default('D', true)", "join(',')", "count", "batch(2)", "slice(2)", "indent",
             "truncate(5)", "center(9)", "replace('a', 'X')", "urlencode", "filesizeformat", "xmlattr", "forceescape", "pprint",
             "map('upper')", "select", "reject", "format(1)", "attr('a')", "attr('items')", "tojson(indent=2)"]
    for name, f in itertools.product(names, plain):
        if f == "pprint" and name in ("ld", "d") or f in ("wordcount", "truncate(5)") and "map" in name:
            continue
        tail = "" if f in ("length", "count", "wordcount") else "|list" if f in ("reverse", "batch(2)", "slice(2)", "items", "unique", "map('upper')", "select", "reject") else ""
        yield "filters", f"{name}|{f}{tail}"
    tests = ["defined", "undefined", "none", "boolean", "true", "false", "integer", "float", "number", "string", "sequence", "mapping",
             "iterable", "callable", "odd", "even", "lower", "upper", "escaped", "divisibleby(3)", "divisibleby 7", "in [7, 'a']", "eq 7",
             "sameas none", "gt 1", "ne 7", "lt 'z'", "filter", "test"]
    for name, t in itertools.product(names, tests):
        yield "tests", f"{name} is {t}"
    operands = ["s", "e", "n", "t", "i", "neg", "fl", "l", "em", "d", "missing", "'a'", "0", "1.0", "(1,)", "big", "-0.0"]
    ops = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
    for a, op, b in itertools.product(operands, ops, operands):
        if a == b == "big" or {a, b} == {"big", "fl"} or op == "**" and ("big" in (a, b) or a in ("neg", "-0.0")):
            continue
        yield "operators", f"{a} {op} {b}"
    for a in operands:
        for e in (f"-{a}", f"+{a}", f"not {a}", f"{a}[0]", f"{a}[-1]", f"{a}['x']", f"{a}.x", f"{a}[1:]", f"{a}[::-1]", f"{a}[:2]",
                  f"{a}.x.y", f"{a} if {a}", f"'y' if {a} else 'n'", f"{a}()", f"[{a}]", f"{{'k': {a}}}", f"({a},)", f"{{{a}: 1}}",
                  f"{a}.__class__", f"{a}['__class__']", f"{a}._x"):
            yield "access", e
    str_methods = ["upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "strip('Hd')", "lstrip('H')", "rstrip('d')",
                   "split()", "split(' ')", "split('l', 1)", "rsplit('l', 1)", "split(none, 1)", "splitlines()", "splitlines(true)",
                   "startswith('H')", "startswith(('x', 'H'))", "endswith('d')", "startswith('e', 1)", "startswith(['H'])", "find('o')",
                   "rfind('o')", "find('zz')", "index('o')", "index('zz')", "count('l')", "count('l', 4)", "count('')", "replace('l', 'L')",
                   "replace('l', 'L', 1)", "replace('', '-')", "join(['a', 'b'])", "join([1])", "join('xyz')", "isdigit()", "isalpha()",
                   "isalnum()", "isspace()", "islower()", "isupper()", "istitle()", "isnumeric()", "isidentifier()", "isascii()",
                   "partition(' ')", "rpartition('l')", "partition('zz')", "zfill(14)", "ljust(13, '.')", "rjust(13)", "center(14, '*')",
                   "removeprefix('He')", "removesuffix('ld')", "expandtabs(4)", "casefold()", "encode", "format(1)", "nothing()", "split(x='a')",
                   "split(sep='o')", "split(maxsplit=1)", "isprintable()", "isdecimal()"]
    for name, m in itertools.product(["s", "u", "q", "e", "num", "lines", "'-42'", "'١٢'", "'ab c'", "'A1b'", "html|safe"], str_methods):
        if m != "encode":
            yield "methods", f"{name}.{m}"
    for e in ["l.index(2)", "l.index(9)", "l.count(1)", "l.append(1)", "l.append", "l.pop()", "l.copy()", "l.sort()", "l.insert", "d.get('b')",
              "d.get('zz')", "d.get('zz', 5)", "d.get(key='b')", "d.get([])", "d.keys()", "d.values()", "d.items()", "d.keys()|list", "d.items()|list",
              "d.update({})", "d.pop('b')", "d.clear", "d.setdefault('q', 1)", "d.items", "d['items']", "d.b", "d['b']", "d._p", "d['_p']", "d.zz",
              "d.copy()", "d.keys()[0]", "'b' in d.keys()", "1 in d.values()", "('b', 1) in d.items()", "d.keys()|length", "(1, 2).count(1)",
              "(1, 2).index(2)", "range(5).index(3)", "range(5)[1:3]", "range(5)[::-1]", "range(2, 10, 3)", "range(2, 10, 3)|list", "range(5)|length",
              "range(0)|list", "range(3, 0, -1)|list", "range(1000000)", "range()", "range(1.5)", "range(1, 2, 0)", "range(3)[5]", "range(3)[-1]",
              "3 in range(5)", "range(3) == range(0, 3)", "(1, 2) == [1, 2]", "[1, 2] + (3,)", "(1, 2) + (3,)", "(1,)*2", "[0]*3", "'ab'*-1",
              "d == d.copy()", "[1.0] == [1]", "true == 1", "'1' == 1", "none == false", "missing == missing", "missing == none", "[1, 'a'] < [1, 'b']",
              "(1, 2) < (1, 2, 3)", "1 < 2 < 3", "3 > 2 > 2", "1 < i < 10 != 4", "1 == 1.0 == true", "1 in [1] in [[1]]", "not 1 in [2]",
              "1 if 0", "(1 if 0) is defined", "(1 if 0)|default('x')", "1 if 0 else 2 if 0 else 3", "(1 if 0).x", "true and 0 or 'x'", "'' or none or 0",
              "0 and missing.x", "1 or missing.x", "missing and 1", "not missing", "missing ~ 'x'", "missing|string", "[missing]", "missing|list",
              "missing|length", "missing|upper", "missing.x", "missing['x']", "missing()", "missing.x()", "s.zz()", "s.zz.yy", "missing + 1", "-missing",
              "missing in l", "1 in missing", "missing|int", "missing|float", "missing|abs", "missing|tojson", "missing|join", "missing|sum", "missing|first",
              "missing|max", "missing|sort", "missing|map('upper')|list", "missing|items|list", "missing|default", "missing|default(none)", "missing == ''",
              "d.get('x').y", "missing < 1", "missing is iterable", "'%s' % missing", "'x' % missing", "'{}'.format(missing)", "missing|replace('a','b')",
              "missing|trim", "missing|indent", "missing|dictsort", "missing|tojson|default('x')", "loop", "loop.index", "self", "caller", "varargs",
              "i.real", "fl.is_integer()", "i.bit_length()", "i.x", "true.x", "none.x", "none['x']", "none[0]", "7 // 2", "-7 // 2", "7 // -2", "-7 % 3",
              "7 % -3", "7.5 // 2", "-7.5 % 2", "2 ** 10", "2 ** -1", "2 ** 0.5", "-2 ** 2", "2 ** 3 ** 2", "10 / 4", "10 / 5", "1 / 0", "1 // 0",
              "1 % 0", "1.0 / 0", "0.1 + 0.2", "1e3", "1e16", "1e15", "1.5e-7", "123456789.123", "1_000", "0x1F", "0b101", "0o17", "1e400", "1.0",
              "100.0 // 1", "true + true", "true * 3", "-true", "3 - -3", "- 3|abs", "-3|abs", "(-3)|abs", "1.0|int", "-1.9|int", "'1.9'|int",
              "'x'|int", "'x'|int(5)", "'0x1f'|int(0, 16)", "'11'|int(base=2)", "'1_0'|int", "' 5 '|int", "'+5'|int", "''|int", "'1e3'|int", "'inf'|int",
              "'nan'|float", "'1e3'|float", "'x'|float", "' 1.5 '|float", "'1_0.5'|float", "none|int", "none|float", "[]|int", "true|int", "true|float",
              "2.5|round", "3.5|round", "-2.5|round", "2.675|round(2)", "2.4|round(method='ceil')", "2.6|round(0, 'floor')", "1234|round(-2)",
              "1250|round(-2)", "1234.5|round(-2)", "2|round", "2|round(1, 'ceil')", "'x'|round", "2.5|round(method='x')", "true|round", "12.345|round(1)",
              "{'a': 1, 'a': 2}", "{1: 'a', true: 'b', 1.0: 'c'}", "{1: 'a'}[true]", "{'a': 1}.a", "{(1, 2): 3}[1, 2]", "{[]: 1}", "{}", "[]", "()", "(1,)", "1, 2",
              "[1, [2, (3, {'k': none})]]", "'a' 'b'", "'a' \"b\" 'c'|upper", "'a' ~ 'b'|upper", "('a' ~ 'b')|upper", "1 ~ 2 ~ none ~ true ~ 1.0",
              "1 + 2 ~ 3", "1 ~ 2 + 3", "1 ~ 2 * 3", "not true or true", "not (true or true)", "1 is odd and 2 is even", "1 is odd is true", "not 1 is odd",
              "1 is not odd", "3 is divisibleby 3", "3 is divisibleby(3)", "3 is in [3]", "3 is not in [3]", "'a' in 'abc'", "1 in 'abc'", "'' in 'abc'",
              "s is string and s", "i is defined and i > 3", "s is nope", "s|nope", "s is defined if t else 1", "true is true", "1 is true", "None", "True",
              "False", "none is none", "s[0]", "s[-1]", "s[99]", "s[1:3]", "s[::-1]", "s[::2]", "s[5:1]", "s[-3:]", "s[:-3]", "s[1.5]", "s['x']", "s[none:2]",
              "s['a':]", "l[::0]", "l[1:2:1]", "l['0']", "l.0", "l.0.x", "nest.1.1", "nest[1][1][0]", "l[true]", "d[none]", "d[1]", "d['a'].x[0]", "d.a['x']",
              "d[1:]", "d['a', 'b']", "l[0, 1]", "l[]", "1[0]", "u[2]", "u[1:3]", "u|length", "u|upper", "u|title", "u|reverse", "u|list", "'ß'|upper",
              "'İ'|lower", "'ŉ'|upper", "'ΑΣ'|lower", "dict(a=1, b=2)", "dict([('a', 1)])", "dict({'a': 1}, b=2)", "dict(1)", "namespace(a=1)", "namespace(a=1).a",
              "namespace({'a': 1}).a", "namespace(a=1).b", "namespace().x is defined", "namespace", "joiner()", "joiner(',')()", "cycler('a', 'b').next()", "cycler()",
              "cycler('a').current", "raise_exception('no')", "raise_exception()", "d.items()|list|first", "d|first", "d|last", "d|list", "d|length", "d|join(',')",
              "d|max", "d|sort", "d|dictsort", "{'B': 1, 'a': 2}|dictsort", "{'B': 1, 'a': 2}|dictsort(true)", "{'B': 1, 'a': 2}|dictsort(false, 'value')",
              "{'B': 1, 'a': 2}|dictsort(by='value', reverse=true)", "{'b': 1}|dictsort(by='x')", "{1: 1, 'a': 2}|dictsort", "mixed|sort", "ls|sort",
              "ls|sort(true)", "ls|sort(case_sensitive=true)", "ls|sort(reverse=true, case_sensitive=true)", "ld|sort(attribute='v')", "ld|sort(attribute='n,v')",
              "ld|sort(attribute='v', reverse=true)|map(attribute='n')|join", "ld|sort(attribute='k.m')", "ld[:2]|sort(attribute='k.m')|map(attribute='n')|list",
              "nest|sort", "nest|sort(attribute=0)", "[(2, 'a'), (1, 'b')]|sort(attribute=1)", "[[2, 1], [1, 2]]|sort(attribute='0')", "ls|unique|list",
              "ls|unique(true)|list", "ls|unique(case_sensitive=true)|list", "ld|unique(attribute='n')|list", "nest|unique|list", "[1, 1.0, true]|unique|list",
              "ld|map(attribute='n')|list", "ld|map(attribute='k.m')|list", "ld|map(attribute='k.m', default='?')|list", "ld|map(attribute='k')|map(attribute='m')|list",
              "ld|map(attribute='zz')|list", "ld|map(attribute='zz', default=0)|list", "ld|map('length')|list", "nest|map(attribute=0)|list", "nest|map(attribute='1.0')|list",
              "ls|map('upper')|list", "ls|map('replace', 'a', 'X')|list", "ls|map('default', 'x')|list", "ls|map('nope')|list", "ls|map|list", "ls|map(attribute='x', y=1)|list",
              "[1, 2]|map('string')|map('upper')|list", "5|map('upper')|list", "0|map('upper')|list", "none|map('upper')|list", "ls|map('upper')|first", "l|map('upper')|length",
              "ls|map('upper')|reverse|list", "ls|map('upper')|last", "ls|map('upper')|join('-')", "ls|map('upper')|sort", "ls|map('upper') is iterable",
              "l|select('odd')|list", "l|reject('odd')|list", "l|select('gt', 1)|list", "l|select('>', 1)|list", "l|select('in', [1, 3])|list", "l|select('nope')|list",
              "mixed|select|list", "mixed|reject|list", "mixed|select('string')|list", "mixed|select('none')|list", "l|select('divisibleby', 2)|list", "l|select('equalto', 2)|first",
              "ld|selectattr('v', 'gt', 1)|map(attribute='n')|list", "ld|selectattr('k')|list|length", "ld|rejectattr('k')|list", "ld|selectattr('k.m', 'defined')|list|length",
              "ld|selectattr('k.m', 'equalto', 'B')|list", "ld|selectattr('n', '==', 'x')|list|length", "ld|selectattr('zz')|list", "ld|selectattr|list", "ld|rejectattr('n', 'in', ['x', 'y'])|list",
              "nest|selectattr('0', 'gt', 1)|list", "ld|groupby('n')", "ld|groupby('n')|list|length", "ld|groupby('n')|map(attribute='grouper')|list",
              "ld|groupby('n', case_sensitive=true)|map('first')|list", "ld|groupby('v')|map(attribute='list')|map('length')|list", "ld|groupby('k.m')|list",
              "ld|groupby('k.m', default='zz')|map(attribute=0)|list", "ld|groupby('zz', default=none)", "(ld|groupby('n'))[0].grouper", "(ld|groupby('n'))[0][1]", "(ld|groupby('n'))[0].list|length",
              "(ld|groupby('n')|first)._fields", "l|sum", "l|sum(start=10)", "ld|sum(attribute='v')", "ld|sum('v', 1)", "ls|sum", "nest|sum(start=[])", "[1.5, true]|sum", "[]|sum",
              "ld|max(attribute='v')", "ld|min(attribute='n')", "ls|max", "ls|min", "ls|max(case_sensitive=true)", "ls|min(true)", "[]|max", "[]|min is undefined", "mixed|max", "nest|max",
              "l|join", "l|join(', ')", "l|join(1)", "ld|join(',', attribute='n')", "ld|join(',', 'k.m')", "nest|join('-')", "s|join('-')", "l|batch(2)|list", "l|batch(2, 'x')|list",
              "l|batch(0)|list", "l|slice(2)|list", "l|slice(2, 'x')|list", "l|slice(5)|list", "l|slice(0)|list", "l|first", "[]|first", "[]|first is defined", "[]|last", "s|first", "s|last",
              "5|first", "5|length", "none|length", "l|reverse|list", "s|reverse", "d|reverse|list", "5|reverse", "l|random is defined and false", "s|wordwrap(5)", "s|urlize", "lipsum is defined", "2 ** 200", "(-8) ** 0.5", "'\\N{BULLET}'", "(ld + ld)|pprint", "s|truncate(8)", "s|truncate(8, true)",
              "s|truncate(8, true, '…')", "s|truncate(8, false, '..', 0)", "s|truncate(2)", "s|truncate(9, leeway=0)", "lines|indent", "lines|indent(2, true)", "lines|indent('> ', true, true)",
              "lines|indent(width=1, blank=true)", "5|indent", "''|indent", "''|indent(2, true)", "s|center(20)", "s|center(3)", "s|wordcount", "'a-b c_d'|wordcount", "s|replace('l', 'x', 1)",
              "5|replace(5, 6)", "s|replace('o')", "s|trim('Hd')", "'  x '|trim", "5|trim", "s|default", "e|default('x')", "e|default('x', true)", "e|default('x', boolean=true)", "n|default('x')",
              "n|d('x', true)", "missing|d", "html|e", "html|escape|escape", "html|e|e", "html|safe|e", "html|forceescape", "(html|e) ~ '<'", "(html|e) + '<'", "'<' + (html|e)", "html|e|upper",
              "(html|e) * 2", "(html|e)[:3] + '<'", "html|striptags", "'<!-- a -->b  c'|striptags", "s|urlencode", "'a b/ü?'|urlencode", "{'a': 1, 'b c': 'd&'}|urlencode", "[('a', 1)]|urlencode",
              "{'a': 1, 'b': none}|xmlattr", "{'a b': 1}|xmlattr", "{'a': '\"<'}|xmlattr(false)", "1|filesizeformat", "1000|filesizeformat", "1234567|filesizeformat", "1024|filesizeformat(true)",
              "999|filesizeformat", "'2000'|filesizeformat", "s|attr('upper')", "d|attr('b')", "d|attr('items') is callable", "namespace(a=1)|attr('a')", "s|attr('__class__')", "1|string", "none|string",
              "l|string", "true|string|lower", "1|abs", "'x'|abs", "s|format", "'%s'|format(1)", "'%s %s'|format(1)", "'%(a)s'|format(a=1)", "'%s'|format(1, a=2)", "l|list is sameas l", "l is sameas l",
              "1 is sameas 1", "l is sameas [1, 2, 3]", "3|upper", "s|upper|lower|title", "s|length > 3", "l|length == 3 and true", "(l|length) + 1", "l|length + 1", "-l|length",
              "s is filter", "'upper' is filter", "'nope' is filter", "'odd' is test", "l is sequence", "5 is sequence", "missing is sequence", "d.items() is sequence", "ls|map('upper') is sequence",
              "range is callable", "s.upper is callable", "missing is callable", "namespace() is mapping", "d is mapping", "'A' is upper", "'1' is upper", "5 is lower", "5 is divisibleby 0", "'a' is odd",
              "2.0 is even", "true is odd", "true is number", "true is integer", "1.0 is integer", "1.0 is float", "1 is float"]:
        yield "misc", e
    for fmt in ["%d", "%5d", "%-5d|", "%05d", "%+d", "% d", "%x", "%X", "%#x", "%o", "%#o", "%e", "%.2e", "%E", "%f", "%.1f", "%g", "%.3g", "%G", "%s", "%10s",
                "%-10s|", "%.3s", "%r", "%a", "%c", "%%", "%i", "%u", "%5.1f", "%08.3f", "%+.0f", "%#.3g", "%y", "%", "%ld", "%*d"]:
        for v in ["7", "-7", "3.5", "'é'", "true", "none", "l", "1234567.891", "0.00001234", "(7,)", "(7, 8)", "'A'"]:
            yield "printf", f"'{fmt}' % {v}"
    for spec in ["", "d", "5", "<5", ">5", "^5", "*^7", "05", "+", " ", ",", "_", ".2f", "8.3f", "e", ".1e", "g", ".3g", ".3", "x", "#x", "b", "#b", "o", "X", "%", ".1%", "s", "10s", ".2", "c", "n", "=+6",
                 "08,", "012,.2f", "#010x", "z", "<", "^10.3f"]:
        for v in ["7", "-7", "3.5", "'é'", "true", "none", "1234567", "1234567.891", "0.00001234", "1e20"]:
            yield "strformat", "'{:" + spec + "}'.format(" + v + ")"
    for e in ["'{} {}'.format(1, 2)", "'{1} {0}'.format(1, 2)", "'{a}'.format(a=1)", "'{} {0}'.format(1)", "'{}'.format()", "'{0.b}'.format(d)", "'{0[b]}'.format(d)", "'{0[0]}'.format(l)", "'{0.__class__}'.format(1)",
              "'{{}}'.format()", "'{'.format()", "'}'.format()", "'{!r}'.format('a')", "'{!s:>4}'.format('a')", "'{!x}'.format(1)", "'{:{}}'.format(1, 5)", "'{:{w}}'.format(1, w=5)", "'{0:>{1}}'.format('a', 3)",
              "'{a.b}'.format(a={'b': 1})", "'{a[b c]}'.format(a={'b c': 1})", "'{a}'.format_map({'a': 1})", "'{a}'.format_map(1)", "'{}'.format(l)", "'{:5}'.format(l)", "'{}'.format(missing)", "'{zz}'.format(a=1)",
              "'{!a}'.format('é')", "'{:<5}|'.format('é')", "'{:^5}|'.format('ab')", "'{:x<5}|'.format('ab')", "'%(a)s %(b)d' % {'a': 1, 'b': 2}", "'%(a)s' % {'b': 1}", "'%(a)s' % 1", "'%s' % (1, 2)", "'%s %s' % (1,)",
              "'%s' % l", "'%s' % {}", "'x' % {}", "'x' % l", "'x' % 1", "'%s' % none", "'%*d' % (5, 3)", "'%-*d|' % (5, 3)", "'%.*f' % (2, 3.14159)", "'%(a)' % {'a': 1}", "'%s%%' % 5", "'%s' % 'a' ~ 'b'"]:
        yield "formats", e
    shapes = ["d", "l", "ld", "mixed", "nest", "s", "q", "u", "n", "t", "fl", "big", "1e20", "1e-7", "1.0", "(1, 2)", "{1: 2, none: 3, true: 4, 1.5: 5}", "{'a': {'b': []}}", "[]", "{}", "[[]]", "missing", "d.keys()",
              "namespace(a=1)", "'\\u2028\\x7f\\x00\\x1f/'", "'😀é'", "html", "html|e", "{(1, 2): 3}", "{'b': 1, 'a': 2}", "ld|groupby('n')|first", "range(3)", "ls|map('upper')"]
    for v, a in itertools.product(shapes, ["", "(indent=2)", "(indent=0)", "(indent=none)", "(indent='--')", "(ensure_ascii=true)", "(separators=(',', ':'))", "(sort_keys=true)", "(indent=1, separators=(', ', ' = '))",
                                           "(true, 2)", "(foo=1)"]):
        yield "tojson", f"{v}|tojson{a}"


def literals():
    """Templates whose source is the point."""
    yield from (("source", t) for t in [
        "a\r\nb\rc\n", "a\r\n{% if t %}\r\nx\r\n{% endif %}\r\nb", "{{ 'a\r\nb' }}", "{{ 'a\rb' }}", "a\n\n", "a\r\n\r\n", "\n", "\r", "{{ lines }}", "{{ lines|tojson }}", "{% raw %}\r\n{{ x }}\r{% endraw %}",
        "{{ '\\n' }}|{{ '\\r\\n' }}", "{{ '\\x41\\u00e9\\U0001F600\\101\\0' }}", "{{ '\\q' }}", "{{ '\\' }}", "{{ '\\é' }}", "{{ '\\x4' }}", "{{ 'a\\\nb' }}", "{{ '\\'' }}{{ \"\\\"\" }}{{ '\"' }}{{ \"'\" }}", "{{ '\\a\\b\\f\\v\\t' }}",
        "{{ \"it's\" }}", "{{ 'say \"hi\"' }}", "{{ '{{' }}{{ '}}' }}", "{{ '{% if %}' }}", "{{ \"%}\" }}", "{{ {'a': {'b': 1}} }}", "{{ {'a': 1}}}", "{{{'a': 1}}}", "{{ {}}}", "{#- c -#} x", "x {#- c -#} y", "x {# c #}\ny", "x {# c +#}\ny",
        "  {# c #}\ny", "a  {#+ c #} b", "{# {{ x }} #}a", "{# a #}#}", "{# a", "{{ a", "{% if", "{{", "{%", "{#", "}} %} #}", "{ { % }", "{{}}", "{% %}", "{{ }}", "{{-}}", "{{ - }}", "{{ 1 -}} x", "x {{- 1 }}", "x\n {{- 1 -}} \n y",
        "  {% if t %}\n  x\n  {% endif %}\n  y", "  {%+ if t %}\n  x\n  {%+ endif %}\n", "  {%- if t -%}\n  x\n  {%- endif -%}\n  y", "{% if t +%}\nx{% endif +%}\ny", "a {% if t %} b {% endif %} c", "{% if t %}\n\nx{% endif %}\n\ny",
        "\t{% if t %}x{% endif %}", "a\n\t {% if t %}x{% endif %}", "{{ 1 }}\n{{ 2 }}\n", "{% set x = 1 %}\n{{ x }}", "{% set x = 1 -%}\n\n {{ x }}", "{%- set x = 1 %}  {{ x }}", "  {{ 1 }}  {% set x = 1 %}  ", "{{ 1 }}  \n  {% set x = 1 %}  \n  a",
        "{% raw %}{{ x }}{% endraw %}", "  {% raw %}  x  {% endraw %}  ", "{%- raw -%}  x  {%- endraw -%}  ", "{% raw %}\nx\n{% endraw %}\ny", "a\n  {% raw %}x\n  {% endraw %}\nb", "{% raw %}{% raw %}{% endraw %}", "{% raw", "{% raw %}", "{%raw%}x{%endraw%}",
        "{% raw +%}x{% endraw %}", "{%+ raw %} x{% endraw +%}\ny", "{%if t%}a{%endif%}", "{%if t:%}a{%endif%}", "{% if t: %}a{% endif %}", "{% if(t) %}a{% endif %}", "{% for x in l: %}{{x}}{% endfor %}", "{{i}}{{ i}}{{i }}", "{{ i;}}", "{{ i ; }}",
        "{{ 'a' 'b' }}", "{{ 1 2 }}", "{{ a b }}", "{{ (1 }}", "{{ 1) }}", "{{ [1, }}", "{{ [1,] }}", "{{ [,] }}", "{{ (,) }}", "{{ {'a': 1,} }}", "{{ {'a'} }}", "{{ f(,) }}", "{{ range(3,)|list }}", "{{ range(start=3) }}", "{{ dict(a=1, a=2) }}", "{{ dict(a=1, 2) }}",
        "{{ dict(*[[('a', 1)]]) }}", "{{ dict(**{'a': 1}) }}", "{{ dict(**{'a': 1}, b=2) }}", "{{ dict(b=2, **{'a': 1}) }}", "{{ dict(a=1, **{'a': 1}) }}", "{{ range(*[1, 4])|list }}", "{{ 1 if }}", "{{ 1 else 2 }}", "{{ if 1 }}", "{{ not }}", "{{ 1 + }}", "{{ + 1 }}",
        "{{ 1 ++ 1 }}", "{{ 1 -- 1 }}", "{{ 1 <> 2 }}", "{{ 1 = 2 }}", "{{ 1 & 2 }}", "{{ a! }}", "{{ a$b }}", "{{ `a` }}", "{{ é }}", "{% set é = 1 %}{{ é }}", "{{ 1.2.3 }}", "{{ 1. }}", "{{ .5 }}", "{{ 1.e5 }}", "{{ 1__0 }}", "{{ 007 }}", "{{ 00 }}", "{{ 0x }}", "{{ 1e }}", "{{ 2x }}",
        "{{ l.0 }}{{ l.1.real }}", "{{ 1.5.is_integer() }}", "{{ d.a.x.0 }}", "{% nope %}", "{% endif %}", "{% if t %}", "{% if t %}{% else %}{% else %}{% endif %}", "{% for x in l %}{% endif %}", "{% if t %}{% endfor %}", "{% for in l %}{% endfor %}", "{% for x l %}{% endfor %}",
        "{% set %}", "{% set x %}", "{% set x = %}", "{% set 1 = 2 %}", "{% set true = 1 %}", "{% set none = 1 %}", "{% set loop = 1 %}{{ loop }}", "{% set self = 1 %}{{ self }}", "{% set x.y = 1 %}", "{% set d.x = 1 %}{{ d.x }}", "{% set l[0] = 1 %}", "{% set (a, b) = 1, 2 %}{{ a }}{{ b }}",
        "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a, b = l %}", "{% set a, b = 'xy' %}{{ a }}{{ b }}", "{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}", "{% set a = 1, %}{{ a }}", "{% set a = 1, 2 %}{{ a }}", "{% set [a] = [1] %}", "{% set a = b = 1 %}", "{% set if = 1 %}{{ if }}",
        "{% set for = 1 %}{{ for }}", "{% set in = 1 %}", "{% set not = 1 %}", "{% set is = 3 %}{{ is }}", "{% set class = 1 %}{{ class }}", "{% set def = 1 %}{{ def + 1 }}", "{% set lambda = 1 %}{{ lambda }}", "{% set import = 2 %}{{ import }}", "{% set print = 2 %}{{ print }}", "{% set None2 = 2 %}{{ None2 }}",
        "{% print 1, 2 %}", "{% print %}", "{% do 1 %}", "{% include 'x' %}", "{% if f %}{% include 'x' %}{% endif %}ok", "{% import 'x' as y %}", "{% from 'x' import y %}", "{% extends 'x' %}", "{% break %}", "{% continue %}", "{% for x in l %}{% break %}{% endfor %}ok",
        "{% if f %}{{ s|nope }}{% endif %}ok", "{% if t %}{{ s|nope }}{% endif %}ok", "{{ s|nope if f else 'ok' }}", "{% if f %}{{ s is nope }}{% endif %}ok", "{% if f %}{% for x in l %}{{ x|nope }}{% endfor %}{% endif %}ok", "{% generation %}a{% endgeneration %}", "{%- generation -%} a {%- endgeneration -%} b",
        "{% generation %}{% set x = 1 %}{{ x }}{% endgeneration %}{{ x }}", "{% for x in l %}{% generation %}{{ x }}{% endgeneration %}{% endfor %}", "{% for x in l %}{% generation %}{% break %}{% endgeneration %}{% endfor %}", "{% generation %}{{ caller }}{% endgeneration %}",
        "{% autoescape true %}{{ html }}{% endautoescape %}", "{% autoescape false %}{{ html }}{% endautoescape %}", "{% autoescape true %}{{ html|safe }}{{ html ~ '<' }}{% endautoescape %}{{ html }}", "{% autoescape true %}{% set x %}<b>{{ html }}{% endset %}{{ x }}{% endautoescape %}",
    ])


def reports():
    """The constructs that public reports say another program got wrong."""
    yield from (("reports", t) for t in [
        # withcatai/node-llama-cpp#366
        "{%- set user = messages|rejectattr('role', 'equalto', 'system')|list %}{{ user|length }}{{ (messages|selectattr('role', 'equalto', 'user')|list)[-1] == messages[-1] }}",
        # ggml-org/llama.cpp#12231
        "{{- '' }}{%- set content = 'a</think>\\n\\nb'.split('</think>')[-1].lstrip('\\n') %}{{ content }}",
        # ggml-org/llama.cpp#11443
        "{%- for m in messages %}\n    {%- if m.role == 'system' %}\n{{ m.content }}\n    {%- else %}\n        {%- break %}\n    {%- endif %}\n{%- endfor %}",
        # ggml-org/llama.cpp#11866
        "{%- for m in messages %}{%- if (m.role == 'user') or (m.role == 'system' and not loop.first) or (m.role == 'assistant' and not m.tool_calls) %}{{- m.role }}{%- elif m.role == 'tool' %}{%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != 'tool') %}{{- 'T' }}{%- endif %}{%- endif %}{%- endfor %}",
        # ggml-org/llama.cpp#11402
        "{%- for m in messages %}{%- if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('roles must alternate') }}{%- endif %}{%- endfor %}",
        # nomic-ai/gpt4all#3309
        "{%- if not date_string is defined %}\n    {%- if strftime_now is defined %}\n        {%- set date_string = strftime_now(\"%d %b %Y\") %}\n    {%- else %}\n        {%- set date_string = \"26 Jul 2024\" %}\n    {%- endif %}\n{%- endif %}\n{{- date_string }}",
        # huggingface/chat-ui#1667
        "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% set ns = namespace(is_first=false, is_tool=false) %}{%- for message in messages %}{%- if message['role'] == 'assistant' and message['content'] is none %}{%- set ns.is_tool = true -%}{%- for tool in message['tool_calls'] %}{{ tool['function']['name'] + '\\n' }}{%- endfor %}{%- endif %}{%- endfor %}{{ ns.is_tool }}",
        # nobodywho-ooo/nobodywho#61
        "{% set content = bos_token + 'x' %}{{ content }}",
        # huggingface/huggingface.js#522
        "{% for m in messages %}{{ m['role'].title() }} {{ m['role'] | title }}{% endfor %}",
        # abetlen/llama-cpp-python#2225
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.tool_calls|length }}{% endgeneration %}{% endif %}{% endfor %}",
        # huggingface/transformers.js#1724
        "{%- for m in messages -%}\n  {%- generation -%}\n    {{- m.role + '\\n' -}}\n  {%- endgeneration -%}\n{%- endfor -%}",
        # janhq/jan#6123
        "{%- set m_content = '<think>\\nr\\n</think>\\n\\nc' %}{%- set content = (m_content.split('</think>')|last).lstrip('\\n') %}{%- set r = (m_content.split('</think>')|first).rstrip('\\n') %}{%- set r = (r.split('<think>')|last).lstrip('\\n') %}{{ content }}|{{ r }}",
        # nomic-ai/gpt4all#3348
        "{% for m in messages[:2] %}{{'<' + m['role'] + '\n' + m['content']}}{% if not loop.last or (loop.last and m['role'] != 'assistant') %}{{'>\n'}}{% endif %}{% endfor %}",
        # abetlen/llama-cpp-python#1486
        "{{ html|tojson }}{{ messages[2].tool_calls[0].function|tojson }}",
        # oobabooga/textgen#6675
        "{{ 'Today is ' + strftime_now('%B %d, %Y') + '.' }}",
        # lmstudio-ai/lmstudio-bug-tracker#577
        "{{ strftime_now('%Y-%m-%d %H:%M:%S') }}",
        # containers/ramalama#1857
        "{%- for m in messages %}{%- set last = ((messages)[loop.index0:])|length==1%}{{ last }}{%- endfor %}",
        "{%- if last and ne .Role \"assistant\" %}x{% endif %}",
        # huggingface/huggingface.js#692
        "{%- macro kind(spec) %}{%- set basic = {'string': 'str', 'integer': 'int'} %}{%- if basic[spec.type] is defined %}{{- basic[spec.type] }}{%- elif spec.type == 'array' %}{{- 'List[' + kind(spec['items']) + ']' }}{%- elif spec.type == 'object' %}{%- if spec.additionalProperties is defined %}{{- 'Dict[str, ' + kind(spec.additionalProperties) + ']' }}{%- else %}{{- 'Dict' }}{%- endif %}{%- endif %}{%- endmacro %}{{ kind({'type': 'array', 'items': {'type': 'object', 'additionalProperties': {'type': 'integer'}}}) }}",
    ])


def statements():
    """Statements, by area."""
    for t in [
        # scopes
        "{% set x = 1 %}{% for a in l %}{% set x = x + a %}{{ x }}{% endfor %}{{ x }}", "{% for a in l %}{% set y = a %}{% endfor %}{{ y }}", "{% if t %}{% set x = 1 %}{% endif %}{{ x }}", "{% if f %}{% set x = 1 %}{% endif %}{{ x }}", "{% if f %}{% set s = 1 %}{% endif %}{{ s }}",
        "{% if t %}{% set s = 1 %}{% endif %}{{ s }}", "{{ s }}{% set s = 2 %}{{ s }}", "{% for a in l %}{{ s }}{% set s = a %}{{ s }}{% endfor %}{{ s }}", "{% for a in l %}{% if a == 2 %}{% set q = 'two' %}{% endif %}{{ q }};{% endfor %}", "{% for a in l %}{{ x }}{% set x = a %}{% endfor %}",
        "{% set x = 1 %}{% if t %}{% for a in l %}{% set x = a %}{% endfor %}{% endif %}{{ x }}", "{% set ns = namespace(x=0) %}{% for a in l %}{% set ns.x = ns.x + a %}{% endfor %}{{ ns.x }}", "{% set ns = namespace() %}{% set ns.a = 1 %}{% set ns.b = ns.a %}{{ ns.b }}{{ ns.c }}", "{% set ns = namespace(a=1) %}{{ ns }}",
        "{% set ns = namespace(a=1) %}{% set ns.a, b = 2, 3 %}{{ ns.a }}{{ b }}", "{% set ns = namespace() %}{% set ns.x %}abc{% endset %}{{ ns.x }}", "{% set ns = 1 %}{% set ns.x = 1 %}", "{% set nons.x = 1 %}", "{% set ns = namespace(_a=1) %}{{ ns._a }}", "{% set ns = namespace(a=1) %}{% for ns.a in l %}{% endfor %}", "{% set ns = namespace(items=1) %}{{ ns.items }}",
        "{% set ns = namespace(a=1) %}{{ ns['a'] }}", "{% set ns = namespace(l=[]) %}{% for x in l %}{% set ns.l = ns.l + [x * 2] %}{% endfor %}{{ ns.l }}", "{% with x = 1 %}{{ x }}{% endwith %}{{ x }}", "{% with %}{% set x = 1 %}{{ x }}{% endwith %}{{ x }}", "{% set x = 1 %}{% with x = 2, y = x %}{{ x }}{{ y }}{% endwith %}{{ x }}",
        "{% with a = 1, b = a %}{{ b }}{% endwith %}", "{% with a, b = 1 %}{% endwith %}", "{% with (a, b) = l[:2] %}{{ a }}{{ b }}{% endwith %}", "{% with x = s %}{% set s = 'q' %}{{ s }}{{ x }}{% endwith %}{{ s }}", "{% with a = 1 %}{% with b = a %}{{ a + b }}{% endwith %}{% endwith %}",
        "{% set x %}a{{ i }}b{% endset %}[{{ x }}]", "{% set x | upper %}a{{ s }}b{% endset %}{{ x }}", "{% set x | upper | replace('A', 'z') %}a{% endset %}{{ x }}", "{% set x %}{% set y = 1 %}{{ y }}{% endset %}{{ x }}{{ y }}", "{% for a in l %}{% set x %}{{ a }}{% if a == 2 %}{% break %}{% endif %}{% endset %}{{ x }}{% endfor %}", "{% set x %}\n a\n{% endset %}{{ x|tojson }}",
        "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter upper|replace('A', 'b') %}a{% endfilter %}", "{% filter trim %} {% set s = 1 %}{{ s }} {% endfilter %}{{ s }}", "{% filter indent(2) %}a\nb{% endfilter %}", "{% filter nope %}{% endfilter %}", "{% filter %}{% endfilter %}", "{% filter default('x') %}{% endfilter %}", "{% for x in l %}{% filter string %}{{ x }}{% continue %}{% endfilter %}{% endfor %}",
        "{% block b %}x{{ s }}{% endblock %}", "{% block b %}{% set s = 2 %}{% endblock %}{{ s }}", "{% set v = 1 %}{% block b %}{{ v }}{% endblock %}", "{% for v in l %}{% block b %}{{ v }}{% endblock %}{% endfor %}", "{% for v in l %}{% block b scoped %}{{ v }}{{ loop.index }}{% endblock %}{% endfor %}", "{% block a %}{% block b %}x{% endblock b %}{% endblock a %}", "{% block a %}{% endblock %}{% block a %}{% endblock %}",
        "{% block a %}1{% endblock %}{{ self.a() }}", "{{ self.a() }}{% block a %}{{ self.b() }}{% endblock %}{% block b %}B{% endblock %}", "{% block a %}{{ super() }}{% endblock %}", "{% block a %}{{ super is defined }}{% endblock %}", "{% block a required %}{% endblock %}", "{{ self.nope() }}", "{{ self }}", "{{ self.nope is defined }}", "{% macro m() %}m{% endmacro %}{% block a %}{{ m() }}{% endblock %}",
        "{% if t %}{% set v = 1 %}{% endif %}{% block b %}{{ v }}{% endblock %}", "{% with v = 1 %}{% block b %}{{ v }}{% endblock %}{% endwith %}", "{% with v = 1 %}{% block b scoped %}{{ v }}{% endblock %}{% endwith %}", "{% set _v = 1 %}{% block b %}{{ _v }}{% endblock %}", "{% block b %}{% for x in l %}{{ x }}{{ loop.last }}{% endfor %}{% endblock %}", "{% set v = 1 %}{% block b %}{{ v }}{% set v = 5 %}{{ v }}{% endblock %}{{ v }}{{ self.b() }}", "{% set s = 9 %}{% block b %}{{ s }}{% endblock %}",
        # macros
        "{% macro m(x, y=x) %}{{ x }}{{ y }}{% endmacro %}{{ m(3) }}{{ m(3, 4) }}{{ m(3, y=5) }}", "{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m() }}{{ m(none) }}", "{% macro m(x) %}{{ x is defined }}{% endmacro %}{{ m() }}{{ m(1) }}{{ m(missing) }}", "{% macro m(x=1) %}{{ x }}{% endmacro %}{{ m(missing) }}{{ m(none) }}", "{% macro m(x, y=1, z=x ~ y) %}{{ z }}{% endmacro %}{{ m('a') }}{{ m('a', z=3) }}", "{% macro m(x=y, y=1) %}{{ x }}{{ y }}{% endmacro %}{{ m() }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
        "{% macro m(a) %}{{ varargs }}{% endmacro %}{{ m(1, 2, 3) }}{{ m() }}", "{% macro m(a) %}{{ kwargs }}{% endmacro %}{{ m(1, b=2) }}{{ m(a=1, c=3) }}", "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, *[2, 3], a=4, **{'b': 5}) }}", "{% macro m(varargs) %}{{ varargs }}{% endmacro %}{{ m(1) }}", "{% macro m() %}{% set kwargs = 1 %}{{ kwargs }}{% endmacro %}{{ m() }}{{ m(a=1) }}", "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}body{% endcall %}", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}",
        "{% macro m() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) m() %}{{ a }}{{ b }}{% endcall %}", "{% macro m() %}{{ caller(1) }}{% endmacro %}{% call(a, b=a) m() %}{{ a }}{{ b }}{% endcall %}", "{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}{% call m() %}{% endcall %}", "{% macro m() %}x{% endmacro %}{% call m() %}b{% endcall %}", "{% macro m(caller) %}{{ caller() }}{% endmacro %}", "{% macro m(caller=none) %}{{ caller() if caller else '-' }}{% endmacro %}{{ m() }}{% call m() %}b{% endcall %}", "{% macro a() %}{% call b() %}{{ caller() }}{% endcall %}{% endmacro %}{% macro b() %}<{{ caller() }}>{% endmacro %}{% call a() %}x{% endcall %}",
        "{% call s.upper() %}x{% endcall %}", "{% call missing() %}{% endcall %}", "{% call s %}{% endcall %}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{% macro m() %}{{ x }}{% endmacro %}{% set x = 1 %}{{ m() }}", "{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% set x = 2 %}{{ m() }}", "{% macro m() %}{% set x = 1 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}", "{% set x = 1 %}{% macro m() %}{% set x = 2 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}",
        "{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}{{ m }}", "{% for x in l %}{% macro m() %}{{ x }}{{ loop.index }}{% endmacro %}{{ m() }}{% endfor %}", "{% macro m(loop) %}{{ loop.index }}{% endmacro %}{% for x in l %}{{ m(loop) }}{% endfor %}", "{% macro m() %}{{ loop.index }}{% endmacro %}{% for x in l %}{{ m() }}{% endfor %}", "{% macro m() %}{% endmacro %}{{ m }}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.caller }}", "{% macro m(a, b=1) %}{{ kwargs }}{% endmacro %}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.nope }}", "{{ m() }}{% macro m() %}x{% endmacro %}",
        "{% if f %}{% macro m() %}x{% endmacro %}{% endif %}{{ m() }}", "{% if t %}{% macro m() %}x{% endmacro %}{% endif %}{{ m() }}", "{% macro m(a, a) %}{% endmacro %}", "{% macro m(a=1, b) %}{% endmacro %}", "{% macro m(1) %}{% endmacro %}", "{% macro m %}{% endmacro %}", "{% macro true() %}{% endmacro %}", "{% macro m() %}a\n{% endmacro %}{{ m() }}{{ m()|length }}{{ m() ~ 'b' }}{{ m()|upper }}", "{% macro m() %}{% macro n() %}{{ x }}{% endmacro %}{% set x = 1 %}{{ n() }}{% endmacro %}{{ m() }}", "{% set ns = namespace() %}{% macro m(x) %}{% macro n() %}{{ x }}{% endmacro %}{% set ns.f = n %}{% endmacro %}{{ m(7) }}{{ ns.f() }}",
        "{% set ns = namespace() %}{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{% set ns.f = m %}{% endfor %}{{ ns.f() }}", "{% macro outer() %}{% for x in l %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(x) outer() %}<{{ x }}>{% endcall %}", "{% macro m(s) %}{{ s }}{% endmacro %}{{ m('q') }}{{ s }}", "{% macro m(x) %}{% if x %}{% set y = 1 %}{% endif %}{{ y }}{% endmacro %}{{ m(1) }}{{ m(0) }}", "{% macro m(x) -%}\n  {{ x }}\n{%- endmacro %}[{{ m(1) }}]", "{% macro m(d={'a': 1}) %}{{ d.a }}{% endmacro %}{{ m() }}", "{% macro m(x=[]) %}{{ x + [1] }}{% endmacro %}{{ m() }}{{ m() }}",
        "{% macro m(x) %}{{ x() }}{% endmacro %}{% macro n() %}n{% endmacro %}{{ m(n) }}", "{{ [1, 2]|map('m')|list }}", "{% macro m() %}{% break %}{% endmacro %}", "{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}", "{% for x in l %}{% call(a) c() %}{% break %}{% endcall %}{% endfor %}", "{% macro m(**kw) %}{% endmacro %}", "{% macro m(*a) %}{% endmacro %}", "{% macro m(x,) %}{% endmacro %}", "{{ m is defined }}{% macro m() %}{% endmacro %}{{ m is defined }}{{ m is callable }}", "{% macro m(x, caller=1) %}{{ caller }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}",
        # conditions
        "{% if missing %}a{% else %}b{% endif %}", "{% if f %}a{% elif t %}b{% else %}c{% endif %}", "{% if f %}a{% elif f %}b{% elif i %}c{% endif %}", "{% if l and d %}a{% endif %}", "{% if not em %}a{% endif %}", "{% if missing is defined and missing.x %}a{% else %}b{% endif %}", "{% if missing.x %}a{% endif %}", "{% if 1, 2 %}a{% endif %}", "{% if 1 if t else 0 %}a{% endif %}", "{% if (1 if t else 0) %}a{% endif %}", "{% if x = 1 %}{% endif %}", "{% if f %}{% set x = 1 %}{% elif t %}{% set x = 2 %}{% endif %}{{ x }}", "{% if t %}{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ x }}",
        "{% for a in l %}{% if a is odd %}{% set x = a %}{% endif %}[{{ x }}]{% endfor %}", "{% set x = 0 %}{% for a in l %}{% if a is odd %}{% set x = a %}{% endif %}[{{ x }}]{% endfor %}{{ x }}", "{% macro m() %}{% if s %}{% set s = 1 %}{% endif %}{{ s }}{% endmacro %}{{ m() }}", "{% if f %}{% set s = 1 %}{% elif f %}{% set i = 1 %}{% endif %}{{ s }}{{ i }}", "{% for x in l %}{% if f %}{% set s = 1 %}{% endif %}{{ s }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% set s = 1 %}{% endif %}{{ s }},{% endfor %}{{ s }}",
        # loop controls
        "{% for x in l %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% else %}e{% endfor %}", "{% for x in l %}{% break %}{% else %}e{% endfor %}", "{% for x in l %}{% continue %}{% else %}e{% endfor %}", "{% for x in em %}{{ x }}{% else %}e{% endfor %}", "{% for x in l %}{% for y in l %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}", "{% for x in l %}{% for y in em %}{% else %}{% break %}{% endfor %}{{ x }}{% endfor %}", "{% for x in em %}{% else %}{% break %}{% endfor %}", "{% for x in l %}{% for y in em %}{% else %}{{ loop.index }}{% endfor %}{% endfor %}", "{% for x in l %}{% with y = x %}{% if y == 2 %}{% continue %}{% endif %}{{ y }}{% endwith %}{% endfor %}",
        "{% for x in l %}{{ loop.index }}{% if loop.index == 2 %}{% break %}{% endif %}{{ loop.last }}{% endfor %}", "{% for x in em %}{% else %}{{ loop }}{% endfor %}", "{% for x in em %}{% else %}{{ x }}{% set q = 1 %}{{ q }}{% endfor %}{{ q }}",
        # targets
        "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}", "{% for k, v in d %}{% endfor %}", "{% for a, b in nest[:1] %}{{ a }}{{ b }}{% endfor %}", "{% for a, b in nest %}{{ a }}{% endfor %}", "{% for (a, b) in nest[:1] %}{{ a }}{% endfor %}", "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "{% for a, in [[1]] %}{{ a }}{% endfor %}", "{% for loop in l %}{% endfor %}", "{% for x in l %}{% set loop = 1 %}{% endfor %}", "{% for x in l %}{% for loop in l %}{% endfor %}{% endfor %}", "{% for x in 5 %}{% endfor %}", "{% for x in none %}{% endfor %}", "{% for x in missing %}{% else %}e{% endfor %}", "{% for x in missing.y %}{% endfor %}",
        "{% for s in l %}{{ s }}{% endfor %}{{ s }}", "{% for x in 1, 2 %}{{ x }}{% endfor %}", "{% for x in l if t %}{{ x }}{% endfor %}", "{% for x in (l if t else em) %}{{ x }}{% endfor %}", "{% for x in l + [4] %}{{ x }}{% endfor %}", "{% for x in l|reverse %}{{ x }}{% endfor %}", "{% for i in range(3) %}{{ i }}{% endfor %}{{ i }}", "{% for g, xs in ld|groupby('n') %}{{ g }}:{{ xs|length }};{% endfor %}", "{% for g in ld|groupby('n') %}{{ g.grouper }}:{{ g.list|length }}:{{ g[0] }};{% endfor %}", "{% for k, v in d|dictsort %}{{ k }}{% endfor %}", "{% for k, v in d|items %}{{ k }}{% endfor %}", "{% for a in 'abc' %}{{ a }}{{ a }}{% endfor %}", "{% for r in l|batch(2) %}{{ r }}{% endfor %}", "{% for r in l|slice(2) %}{{ r }}{% endfor %}",
        # generators
        "{% set g = ls|map('upper') %}{{ g|list }}{{ g|list }}", "{% set g = ls|map('upper') %}{{ g|first }}{{ g|first }}{{ g|list }}", "{% set g = l|select('odd') %}{% for x in g %}{{ x }}{% endfor %}{% for x in g %}{{ x }}{% else %}e{% endfor %}", "{% set g = l|map('upper') %}{{ 'x' if g else 'y' }}", "{% set g = ls|map('nope') %}ok", "{% set g = ls|map('nope') %}{{ g|list }}", "{% set g = [1, 'a', none]|map('abs') %}{{ g|first }}", "{% set g = l|reverse %}{{ g|list }}{{ g|list }}", "{% set v = d.items() %}{{ v|list|length }}{{ v|list|length }}", "{% set g = ls|map('upper') %}{{ 'A' in g }}{{ g|list }}", "{% for x in ls|map('upper') %}{{ loop.length }}{{ x }}{% endfor %}", "{% for x in ls|map('upper') %}{{ x }}{{ loop.last }}{% endfor %}",
        "{% set ns = namespace(n=0) %}{% for x in l if x > ns.n %}{% set ns.n = x %}{{ x }}{{ ns.n }} {% endfor %}", "{% set ns = namespace(n=3) %}{% for x in l if x < ns.n %}{% set ns.n = 0 %}{{ x }}{% endfor %}",
    ]:
        yield "statements", t
    # what a loop knows, over everything that can be looped over
    sources = ["l", "s[:3]", "d", "(1, 2, 3)", "ls|map('upper')", "d.items()", "range(3)", "em", "'abc'[::-1]", "ls|unique", "l|reverse", "d.keys()", "d.values()", "ls|sort", "missing", "nest", "l|batch(2)", "''", "[1]", "d|items", "ld|groupby('n')", "ls|select('lower')"]
    knows = ["loop.index", "loop.index0", "loop.revindex", "loop.revindex0", "loop.first", "loop.last", "loop.length", "loop.depth", "loop.depth0", "loop.previtem is defined", "loop.nextitem is defined", "loop.cycle('a', 'b')", "loop.changed(loop.index is odd)", "loop.nope", "loop.cycle()",
             "loop|length", "loop.previtem", "loop.nextitem", "loop", "loop.first and loop.last", "loop()", "loop.length - loop.index"]
    for src, k in itertools.product(sources, knows):
        yield "loops", "{% for x in " + src + " %}{{ " + k + " }},{% endfor %}"
        if src in ("l", "d", "s[:3]", "ls|map('upper')", "range(3)"):
            yield "loops", "{% for x in " + src + " if x != 2 and x != 'b' %}{{ " + k + " }},{% else %}none{% endfor %}"
    for k in knows:
        yield "loops", "{% for x in l %}{% for y in 'ab' %}{{ " + k + " }},{% endfor %}{{ " + k + " }};{% endfor %}"
        yield "recursion", "{% for n in tree recursive %}{{ n.n }}:{{ " + k.replace("loop()", "loop(5)") + " }}{% if n.c %}({{ loop(n.c) }}){% endif %},{% endfor %}"
    for t in ["{% for n in tree recursive %}{{ n.n }}{{ loop(n.c) }}{% endfor %}", "{% for n in tree recursive %}{{ n.n }}{% if n.c %}{{ loop(n.c)|upper }}{% endif %}{% else %}none{% endfor %}", "{% for n in tree recursive %}{% set x = loop.depth %}{% if n.c %}{{ loop(n.c) }}{% endif %}{{ x }}{% endfor %}", "{% for n in l %}{{ loop(l) }}{% endfor %}",
              "{% for n in tree if n.n != 'b' recursive %}{{ n.n }}{% if n.c %}[{{ loop(n.c) }}]{% endif %}{% endfor %}", "{% for n in tree recursive %}{{ n.n }}{% for m in l %}{{ loop.index }}{% endfor %}{% if n.c %}{{ loop(n.c) }}{% endif %}{% endfor %}", "{% for n in tree recursive %}{{ s }}{% set s = n.n %}{{ s }}{% if n.c %}{{ loop(n.c) }}{% endif %}{{ s }}{% endfor %}{{ s }}",
              "{% for n in tree recursive %}{% if n.n == 'b' %}{% break %}{% endif %}{{ n.n }}{% if n.c %}{{ loop(n.c) }}{% endif %}{% endfor %}", "{% macro m(n) %}{{ n.n }}{% for c in n.c %}{{ m(c) }}{% endfor %}{% endmacro %}{{ m(tree[0]) }}", "{% for n in em recursive %}{% else %}none{% endfor %}"]:
        yield "recursion", t


class Composer:
    """Composes templates at random from a small grammar, so that scopes and constructs meet in every way."""

    def __init__(self, rng):
        self.rng = rng

    def pick(self, *options):
        return self.rng.choice(options)

    def name(self):
        return self.pick("a", "b", "c", "x", "s", "i")

    def expr(self, depth=0):
        r = self.rng
        if depth > 2 or r.random() < 0.3:
            return self.pick("a", "b", "c", "x", "s", "i", "1", "'k'", "none", "l", "true", "[]", "d.b", "loop.index", "missing", "2.5", "ns.v", "''")
        e = lambda: self.expr(depth + 1)
        return self.pick(
            lambda: f"{e()} {self.pick('+', '~', '-', '*', '==', 'and', 'or', '<', 'in', '!=')} {e()}", lambda: f"({e()})|{self.pick('string', 'length', 'default(1)', 'upper', 'list', 'tojson', 'd(0, true)', 'first', 'int')}",
            lambda: f"{e()} if {e()} else {e()}", lambda: f"{e()} if {e()}", lambda: f"[{e()}, {e()}]", lambda: f"not {e()}", lambda: f"({e()}) is {self.pick('defined', 'string', 'none', 'odd', 'iterable', 'number')}", lambda: f"({e()}, {e()})[{self.pick('0', '1', '-1', ':1')}]",
            lambda: f"m({e()})", lambda: f"{{'k': {e()}}}.k", lambda: f"'%s' % ({e()},)", lambda: f"({e()} ~ '').upper()",
        )()

    def block(self, depth):
        return "".join(self.stmt(depth) for _ in range(self.rng.randint(1, 3)))

    def stmt(self, depth=0):
        r = self.rng
        if depth > 3:
            return "{{ " + self.expr(1) + " }}"
        b = lambda: self.block(depth + 1)
        space = lambda: self.pick("", "", "", " ", "\n", "\n  ", "t")
        o, c = self.pick("{%", "{%", "{%-", "{%+"), self.pick("%}", "%}", "-%}", "+%}")
        return space() + self.pick(
            lambda: "{{ " + self.expr(1) + self.pick(" }}", " -}}"), lambda: "{{ " + self.expr() + " }}", lambda: f"{o} set {self.name()} = {self.expr(1)} {c}", lambda: f"{o} set ns.v = {self.expr(1)} {c}",
            lambda: f"{o} if {self.expr(1)} {c}{b()}{{% endif %}}", lambda: f"{o} if {self.expr(1)} {c}{b()}{{% elif {self.expr(1)} %}}{b()}{{% else %}}{b()}{{% endif %}}",
            lambda: f"{o} for {self.name()} in {self.pick('l', 'ls', 's', 'd', 'range(2)', 'em', '[a, b]', 'nest')} {c}{b()}{{% endfor %}}", lambda: f"{o} for {self.name()} in l if {self.expr(1)} {c}{b()}{{% else %}}{b()}{{% endfor %}}",
            lambda: f"{{% for a, b in d.items() %}}{b()}{{{{ loop.last }}}}{{% endfor %}}", lambda: f"{{% with {self.name()} = {self.expr(1)} %}}{b()}{{% endwith %}}", lambda: f"{{% set {self.name()} %}}{b()}{{% endset %}}",
            lambda: f"{{% macro {self.pick('m', 'm2')}({self.pick('', 'a', 'a, b=a', 'x=1', 'x, c=s')}) %}}{b()}{{% endmacro %}}", lambda: f"{{% filter {self.pick('upper', 'trim', 'length')} %}}{b()}{{% endfilter %}}", lambda: f"{{% call {self.pick('m()', 'm2(1)', 'm(a)')} %}}{b()}{{% endcall %}}",
            lambda: f"{{# {self.expr(2)} #}}", lambda: f"{{% for x in l %}}{b()}{{% if {self.expr(1)} %}}{{% {self.pick('break', 'continue')} %}}{{% endif %}}{b()}{{% endfor %}}", lambda: f"{{% generation %}}{b()}{{% endgeneration %}}",
        )()

    def template(self):
        head = self.pick("", "{% set ns = namespace(v=0) %}", "{% set ns = namespace(v=0) %}{% macro m(x) %}<{{ x }}>{% endmacro %}", "{% macro m() %}{{ caller() if caller is defined else '-' }}{% endmacro %}")
        return head + "".join(self.stmt() for _ in range(self.rng.randint(1, 4)))


def render(env, template):
    try:
        return {"text": env.from_string(template).render(**copy.deepcopy(VARIABLES), tools=None, documents=None, add_generation_prompt=True)}
    except (Exception, RecursionError) as e:
        return {"error": type(e).__name__}


# What jinja2 prints that says where something lies in memory, or that no program but Python could know.
ADDRESS = re.compile(r"0x[0-9a-f]{8}|<built-in|<class|_fields|<function|<jinja2|<property|<genera", re.IGNORECASE)


def alarm(*_):
    raise TimeoutError


def main():
    rng = random.Random(SEED)
    env = environment()
    signal.signal(signal.SIGALRM, alarm)
    cases = {}

    def add(area, template, limit=4000):
        if template in cases:
            return
        signal.alarm(5)
        result = render(env, template)
        signal.alarm(0)
        text = result.get("text", "")
        if ADDRESS.search(text) or len(text) > limit or result.get("error") in ("TimeoutError", "MemoryError"):
            return
        try:
            text.encode()
        except UnicodeEncodeError:
            return
        cases[template] = {"area": area, "template": template, **result}

    # Of the products of values and operations a fixed part is kept, so that the file stays small.
    kept = {"filters": 0.45, "tests": 0.3, "operators": 0.2, "access": 0.7, "methods": 0.5, "printf": 0.4, "strformat": 0.5, "tojson": 0.5, "loops": 0.6}
    keep = 1.0 if os.environ.get("ALL") else None
    for area, expression in expressions():
        if rng.random() < (keep or kept.get(area, 1)):
            add(area, "{{ " + expression + " }}")
    for area, template in itertools.chain(reports(), literals(), statements()):
        if rng.random() < (keep or kept.get(area, 1)):
            add(area, template)
    composer = Composer(rng)
    wanted = {"text": int(os.environ.get("RANDOM", "700")), "error": int(os.environ.get("RANDOM", "700")) // 4}
    while any(wanted.values()):
        template = composer.template()
        if len(template) > 400 or template in cases:
            continue
        before = len(cases)
        add("composed", template, limit=400)
        if len(cases) > before:
            kind = "error" if "error" in cases[template] else "text"
            if wanted[kind] == 0:
                del cases[template]
            else:
                wanted[kind] -= 1
    out = os.environ.get("OUT") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "jinja2.json.gz")
    body = {"variables": VARIABLES, "cases": list(cases.values())}
    with open(out, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, mtime=0, compresslevel=9) as z:
        z.write(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())
    print(len(cases), "templates,", sum("error" in c for c in cases.values()), "of them refused,", os.path.getsize(out), "bytes")


if __name__ == "__main__":
    main()
