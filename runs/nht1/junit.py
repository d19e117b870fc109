# SPDX-License-Identifier: GPL-3.0-or-later
"""JUnit XML, as continuous integration reads it. A case carries its numbers as properties."""
import xml.etree.ElementTree as ET


def case(classname, name, outcome='', kind='', message='', values=None):
    """A test case that passed, or whose outcome is 'failure', 'error' or 'skipped', with the kind and the
    message of it. values: {name: number or text}, None is left out."""
    found = ET.Element('testcase', classname=classname, name=name)
    known = {k: v for k, v in (values or {}).items() if v is not None}
    if known:
        properties = ET.SubElement(found, 'properties')
        for key, value in known.items():
            ET.SubElement(properties, 'property', name=key,
                          value='%.6g' % value if isinstance(value, float) else str(value))
    if outcome:
        kinds = {'type': kind} if outcome != 'skipped' else {}
        ET.SubElement(found, outcome, message=message, **kinds)
    return found


def suite(name, cases, said):
    """A document with one suite. said: what the program printed."""
    def count(tag):
        return str(sum(c.find(tag) is not None for c in cases))
    found = ET.Element('testsuite', name=name, tests=str(len(cases)), failures=count('failure'),
                       errors=count('error'), skipped=count('skipped'))
    found.extend(cases)
    ET.SubElement(found, 'system-out').text = said
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(found, 'utf-8') + b'\n'
