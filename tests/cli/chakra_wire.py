"""Reads Chakra execution traces as any reader of protocol buffers would, from the schema's field
numbers alone: a message is a run of keys and values, and a file a run of messages, each behind its
length."""

import struct

NODE = {1: "id", 2: "name", 3: "type", 6: "start_micros", 7: "duration_micros"}
VALUES = {3: "double", 7: "int32", 9: "int64", 13: "uint64", 27: "bool", 29: "string"}
COMPUTE, SEND, RECEIVE, COLLECTIVE, METADATA = 4, 5, 6, 7, 1
ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = 0, 2, 7


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {kind} in field {number}")
        if at > len(data):
            raise ValueError("a message ends within a field")
        yield number, value


def messages(data):
    at = 0
    while at < len(data):
        size, at = varint(data, at)
        if at + size > len(data):
            raise ValueError("the file ends within a message")
        yield data[at:at + size]
        at += size


def attribute(data):
    found = dict(fields(data))
    name = found.pop(1).decode()
    (number, value), = found.items()
    kind = VALUES[number]
    if kind == "double":
        return name, struct.unpack("<d", value)[0]
    return name, value.decode() if kind == "string" else bool(value) if kind == "bool" else value


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def node(data):
    found = {"ctrl_deps": [], "data_deps": [], "attr": {}, "inputs": ""}
    for number, value in fields(data):
        if number in NODE:
            found[NODE[number]] = value.decode() if number == 2 else value
        elif number in (4, 5):
            found["ctrl_deps" if number == 4 else "data_deps"] += packed(value)
        elif number == 8:
            found["inputs"] = dict(fields(value))[1].decode()
        elif number == 10:
            name, content = attribute(value)
            if name in found["attr"]:
                raise ValueError(f"attribute {name} comes twice")
            found["attr"][name] = content
        else:
            raise ValueError(f"field {number} in a node")
    return found


def read(data):
    """The attributes of the header, and the nodes, in order."""
    header, *nodes = messages(data)
    about = {"version": None, "attr": {}}
    for number, value in fields(header):
        if number == 1:
            about["version"] = value.decode()
        else:
            about["attr"].update([attribute(value)])
    return about, [node(n) for n in nodes]
