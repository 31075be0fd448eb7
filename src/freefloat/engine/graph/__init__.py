"""Scalar expression graphs: what a traced function is before it becomes code."""

from .builder import Builder
from .file import load, save
from .node import Block, Branch, Loop, Node, While
from .program import Graph, GraphSignature, Leaf

__all__ = ["Block", "Branch", "Builder", "Graph", "GraphSignature", "Leaf", "Loop", "Node", "While", "load", "save"]
