#!/usr/bin/env python3
# sbom.py - the software bill of materials of pawl's packages, SPDX 2.3 in JSON, on standard output.
#
#     scripts/sbom.py BUILD [DEB ...]
#
# BUILD is a build folder that CMake has configured: its libraries.txt has the binaries and the libraries that each
# is linked with. dpkg tells which package, version and licence a library has. Of each DEB of pawl's own the document has
# the SHA-256, too.
#
# The same build on the same machine gives the same bytes: the time is SOURCE_DATE_EPOCH, or that of the newest
# commit, and the document's name space has a hash of its content.
#
# SPDX-License-Identifier: Apache-2.0
import datetime
import functools
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LICENCE = "Apache-2.0"
# Names of Debian's copyright files (DEP-5) that SPDX has under another name.
SPDX_NAMES = {
    "Apache-2.0": "Apache-2.0",
    "BSD-1-Clause": "BSD-1-Clause",
    "BSD-2-clause": "BSD-2-Clause",
    "BSD-3-clause": "BSD-3-Clause",
    "BSD-3-Clause": "BSD-3-Clause",
    "curl": "curl",
    "Expat": "MIT",
    "GPL-2": "GPL-2.0-only",
    "GPL-2+": "GPL-2.0-or-later",
    "LGPL-2+": "LGPL-2.0-or-later",
    "LGPL-2.1": "LGPL-2.1-only",
    "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-3+": "LGPL-3.0-or-later",
    "MIT": "MIT",
    "PostgreSQL": "PostgreSQL",
}
# Libraries whose source package has others, too: their part of it, as a paragraph of its copyright file has it.
PARTS = {"libmariadb3": "libmariadb/*"}


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


# ---- Debian's packages ------------------------------------------------------


@functools.lru_cache(maxsize=None)
def owner(path):
    """The package that a library's file is of: it may be registered under /lib or /usr/lib."""
    real = os.path.realpath(path)
    for name in (real, real.removeprefix("/usr"), path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0].split(", ")[0]
    sys.exit("sbom.py: %s is of no Debian package" % path)


def licence(name):
    """Of the copyright file's paragraph "Files: *", or of that for the library, where it has SPDX's name; else nobody
    knows."""
    package = name.split(":")[0]
    files = re.escape(PARTS.get(package, "*"))
    try:
        with open("/usr/share/doc/%s/copyright" % package, encoding="utf-8", errors="replace") as file:
            paragraphs = file.read().split("\n\n")
    except OSError:
        return "NOASSERTION"
    for paragraph in paragraphs:
        found = re.search(r"^License: *(\S.*)$", paragraph, re.M)
        if re.search(r"^Files: *%s\s*$" % files, paragraph, re.M) and found:
            return SPDX_NAMES.get(found.group(1).strip(), "NOASSERTION")
    return "NOASSERTION"


def debian_package(name):
    fields = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\t${Homepage}"
    package, version, architecture, source, source_version, homepage = run(
        "dpkg-query", "-W", "-f", fields, name
    ).split("\t")
    declared = licence(name)
    return {
        "SPDXID": identifier("debian-" + package),
        "name": package,
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "homepage": homepage or "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": "built by Debian from the source package %s %s" % (source, source_version),
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": declared,
        "licenseComments": "of the source package, as Debian's copyright file has it for all other files",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": "pkg:deb/debian/%s@%s?arch=%s"
                % (package, version.replace("+", "%2B").replace(":", "%3A"), architecture),
            }
        ],
    }


# ---- pawl's packages --------------------------------------------------------


def package_of(target):
    """The Debian package of pawl's own that the binary is in; a benchmark is in that of its driver."""
    number = re.search(r"^#define PAWL_ABI (\d+)", read("include/pawl/api.h"), re.M).group(1)
    if target == "pawl":
        return "libpawl" + number
    name = target.removeprefix("pawl-").removeprefix("bench-")
    if name in ("pawl_command", "bench"):
        return "pawl"
    return "libpawl" + number + "-driver-" + ("mongodb" if name == "mongo" else name)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def own_package(name, version):
    return {
        "SPDXID": identifier(name),
        "name": name,
        "versionInfo": version,
        "supplier": "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": LICENCE,
        "licenseDeclared": LICENCE,
        "copyrightText": "NOASSERTION",
    }


def relation(first, kind, second):
    return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}


def add_deb(packages, path):
    name, version = run("dpkg-deb", "-f", path, "Package"), run("dpkg-deb", "-f", path, "Version")
    name, version = name.split(": ")[-1].strip(), version.split(": ")[-1].strip()
    if not re.match(r"(lib)?pawl", name):
        return  # a package of Debian's, which is given to be installed beside
    package = packages.setdefault(name, own_package(name, version))
    package["versionInfo"], package["packageFileName"] = version, os.path.basename(path)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    package["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]


# ---- The document -----------------------------------------------------------


def created():
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "-C", ROOT, "log", "-1", "--format=%ct")
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def cached(build, variable):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(r"^%s:\w+=(.*)$" % variable, file.read(), re.M)
    return found.group(1) if found else ""


def gather(build, debs):
    version = cached(build, "CMAKE_PROJECT_VERSION")
    own, others, relations = {}, {}, set()
    with open(os.path.join(build, "libraries.txt"), encoding="utf-8") as file:
        for line in file:
            target, name, *libraries = line.rstrip("\n").split("\t")
            package = own.setdefault(package_of(target), own_package(package_of(target), version))
            package["comment"] = ", ".join(filter(None, [package.get("comment"), name]))
            for path in libraries:
                other = owner(path)
                others.setdefault(other, debian_package(other))
                relations.add((package["SPDXID"], "DYNAMIC_LINK", others[other]["SPDXID"]))
    library = next(p["SPDXID"] for name, p in own.items() if re.fullmatch(r"libpawl\d+", name))
    relations.update((p["SPDXID"], "DYNAMIC_LINK", library) for p in own.values() if p["SPDXID"] != library)
    for path in debs:
        add_deb(own, path)
    relations.update(("SPDXRef-DOCUMENT", "DESCRIBES", p["SPDXID"]) for p in own.values())
    packages = [own[name] for name in sorted(own)] + [others[name] for name in sorted(others)]
    return version, packages, [relation(*each) for each in sorted(relations)]


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: scripts/sbom.py BUILD [DEB ...]")
    version, packages, relations = gather(sys.argv[1], sys.argv[2:])
    digest = hashlib.sha256(json.dumps([packages, relations], sort_keys=True).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "pawl-" + version,
        "documentNamespace": "https://spdx.org/spdxdocs/pawl-%s-%s" % (version, digest),
        "creationInfo": {"created": created(), "creators": ["Tool: pawl-sbom-" + version]},
        "packages": packages,
        "relationships": relations,
    }
    json.dump(document, sys.stdout, indent=2, sort_keys=True)
    print()


main()
