#!/usr/bin/env python3
# spdx.py - is standard input a well-formed SPDX 2.3 document in JSON? Says what is wrong, a line each. Checks the
# members that the specification requires of what scripts/sbom.py writes.
#
# SPDX-License-Identifier: Apache-2.0
import json
import re
import sys

IDENTIFIER = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
RELATIONS = {"DESCRIBES", "CONTAINS", "DEPENDS_ON", "DYNAMIC_LINK", "STATIC_LINK"}
# Of the licence list of SPDX, those that may occur.
LICENCES = {
    "Apache-2.0", "BSD-1-Clause", "BSD-2-Clause", "BSD-3-Clause", "curl", "GPL-2.0-only", "GPL-2.0-or-later",
    "LGPL-2.0-or-later", "LGPL-2.1-only", "LGPL-2.1-or-later", "LGPL-3.0-or-later", "MIT", "NONE", "NOASSERTION",
    "PostgreSQL",
}
found = []


def check(is_right, text):
    if not is_right:
        found.append(text)


def matches(pattern, value):
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def check_package(package):
    name = package.get("name")
    check(isinstance(name, str) and name, "a package without a name")
    check(matches(r"https?://.*|NOASSERTION|NONE", package.get("downloadLocation")), "%s: downloadLocation" % name)
    check(package.get("filesAnalyzed") is False, "%s: filesAnalyzed, and there are no files" % name)
    check(package.get("versionInfo"), "%s: versionInfo" % name)
    for member in ("licenseConcluded", "licenseDeclared"):
        check(package.get(member) in LICENCES, "%s: %s is %s" % (name, member, package.get(member)))
    check(matches(r"(Person|Organization): .+|NOASSERTION", package.get("supplier")), "%s: supplier" % name)
    for one in package.get("externalRefs", []):
        check(matches(r"pkg:[a-z]+/[^ ]+@[^ :]+", one.get("referenceLocator")), "%s: not a purl: %s" % (name, one))
    for one in package.get("checksums", []):
        check(one.get("algorithm") == "SHA256" and matches("[0-9a-f]{64}", one.get("checksumValue")), "%s: checksum" % name)


def check_document(document):
    check(document.get("spdxVersion") == "SPDX-2.3", "spdxVersion")
    check(document.get("dataLicense") == "CC0-1.0", "dataLicense")
    check(document.get("SPDXID") == "SPDXRef-DOCUMENT", "the document's SPDXID")
    check(document.get("name"), "name")
    check(matches(r"https?://[^#\s]+", document.get("documentNamespace")), "documentNamespace")
    creation = document.get("creationInfo", {})
    check(matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", creation.get("created")), "created")
    check(creation.get("creators") and all(matches(r"(Tool|Person|Organization): .+", c) for c in creation["creators"]),
          "creators")
    identifiers = ["SPDXRef-DOCUMENT"] + [p.get("SPDXID") for p in document.get("packages", [])]
    check(len(identifiers) > 1, "no packages")
    check(len(set(identifiers)) == len(identifiers), "an identifier twice")
    for one in identifiers:
        check(isinstance(one, str) and IDENTIFIER.fullmatch(one), "identifier %s" % one)
    for package in document.get("packages", []):
        check_package(package)
    relations = document.get("relationships", [])
    for one in relations:
        ends = (one.get("spdxElementId"), one.get("relatedSpdxElement"))
        check(all(end in identifiers for end in ends), "a relationship of what is not there: %s, %s" % ends)
        check(one.get("relationshipType") in RELATIONS, "relationshipType %s" % one.get("relationshipType"))
    check(any(one.get("relationshipType") == "DESCRIBES" for one in relations), "nothing is described")
    linked = {end for one in relations for end in (one.get("spdxElementId"), one.get("relatedSpdxElement"))}
    for one in identifiers:
        check(one in linked, "%s is in no relationship" % one)


try:
    check_document(json.load(sys.stdin))
except ValueError as error:
    found.append("not JSON: %s" % error)
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
