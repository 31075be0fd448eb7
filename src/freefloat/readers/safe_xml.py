"""XML from files of unknown origin: no document type, hence no entities, and nothing is nested for ever."""

import xml.etree.ElementTree as ET
from xml.parsers import expat

_DEEPEST = 200  # elements in elements; robots have ten


class DocumentTypeError(ValueError):
    """A document type was met."""


def parse_xml(text: str | bytes) -> ET.Element:
    """The root element. Raises expat.ExpatError, UnicodeEncodeError, DocumentTypeError, or ValueError where too deep.

    One parser both looks for what is refused and builds the tree, so no encoding can show one thing to the one and
    another to the other. Comments and processing instructions are left out, whatever they say.
    """
    building, open_elements = ET.TreeBuilder(), 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal open_elements
        open_elements += 1
        if open_elements > _DEEPEST:
            raise ValueError(f"its elements are nested more than {_DEEPEST} deep")
        building.start(_qualified(tag), {_qualified(name): value for name, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal open_elements
        open_elements -= 1
        building.end(_qualified(tag))

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.EntityDeclHandler = _refuse_document_type
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = building.data
    parser.Parse(text, True)
    return building.close()


def _qualified(name: str) -> str:
    """A name with its namespace as ElementTree writes it."""
    return f"{{{name}" if "}" in name else name


def _refuse_document_type(*_: object) -> None:
    raise DocumentTypeError("it has a <!DOCTYPE ...>, which is not read")
