"""XML from files of unknown origin: no document type, hence no entities, and limited nesting."""

import xml.etree.ElementTree as ET
from xml.parsers import expat

_DEEPEST = 200  # elements in elements; robots have ten


class DocumentTypeError(ValueError):
    """The XML has a document type."""


def parse_xml(text: str | bytes) -> ET.Element:
    """Root element. Raises expat.ExpatError, UnicodeEncodeError, DocumentTypeError, or ValueError if nested too deep.

    One parser both checks the text and builds the tree, so no encoding can hide anything from the check. Comments and
    processing instructions are left out.
    """
    building, open_elements = ET.TreeBuilder(), 0

    def start_element(tag: str, attributes: dict[str, str]) -> None:
        nonlocal open_elements
        open_elements += 1
        if open_elements > _DEEPEST:
            raise ValueError(f"its elements are nested more than {_DEEPEST} deep")
        building.start(_etree_name(tag), {_etree_name(name): value for name, value in attributes.items()})

    def end_element(tag: str) -> None:
        nonlocal open_elements
        open_elements -= 1
        building.end(_etree_name(tag))

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _reject_document_type
    parser.EntityDeclHandler = _reject_document_type
    parser.StartElementHandler, parser.EndElementHandler = start_element, end_element
    parser.CharacterDataHandler = building.data
    parser.Parse(text, True)
    return building.close()


def _etree_name(name: str) -> str:
    """Name with its namespace, as ElementTree writes it."""
    return f"{{{name}" if "}" in name else name


def _reject_document_type(*_: object) -> None:
    raise DocumentTypeError("it has a <!DOCTYPE ...>, which is not read")
