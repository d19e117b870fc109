# SPDX-License-Identifier: GPL-3.0-or-later
# Checks a JSON text against a JSON Schema, as far as the schemas of this project go:
#
#     jq -n -r --slurpfile s SCHEMA --slurpfile v FILE -f tests/schema.jq
#
# prints one line per violation and nothing when the text conforms. Understood: type, const, enum,
# required, properties, additionalProperties, items, minItems, maxItems, minimum, pattern, $ref to
# #/$defs/NAME. A keyword it does not know is reported, so that no rule is passed over in silence.

def known: ["type", "const", "enum", "required", "properties", "additionalProperties", "items",
    "minItems", "maxItems", "minimum", "pattern", "$ref", "$defs", "$schema", "$comment", "title",
    "description"];

def kind: if type == "number" and floor == . then "integer" else type end;

def fits($types): kind as $k
    | any($types[]; . == $k or (. == "number" and $k == "integer"));

def check($root; $s; $at):
    . as $v
    | ($s | keys[] | select(. as $k | known | index($k) | not) | "\($at): unknown keyword \(.)"),
    (if $s["$ref"] then check($root; $root["$defs"][$s["$ref"] | split("/") | last]; $at)
        else empty end),
    (if $s.type and (fits([$s.type] | flatten) | not)
        then "\($at): is \(kind), not \($s.type | tojson)" else empty end),
    (if ($s | has("const")) and $s.const != $v then "\($at): is not \($s.const)" else empty end),
    (if $s.enum and (any($s.enum[]; . == $v) | not)
        then "\($at): \($v | tojson) is none of \($s.enum | tojson)" else empty end),
    (if ($s | has("minimum")) and ($v | type) == "number" and $v < $s.minimum
        then "\($at): \($v) is below \($s.minimum)" else empty end),
    (if $s.pattern and ($v | type) == "string" and ($v | test($s.pattern) | not)
        then "\($at): does not match \($s.pattern)" else empty end),
    (if ($v | type) == "object" then
        (($s.required // [])[] | select(. as $k | $v | has($k) | not) | "\($at): lacks \(.)"),
        ($v | to_entries[] | .key as $key | .value as $member
            | if $s.properties[$key] then
                $member | check($root; $s.properties[$key]; "\($at).\($key)")
            elif $s.additionalProperties == false then "\($at): \($key) is not allowed"
            elif ($s.additionalProperties | type) == "object" then
                $member | check($root; $s.additionalProperties; "\($at).\($key)")
            else empty end)
        else empty end),
    (if ($v | type) == "array" then
        (if ($s.minItems // 0) > ($v | length) then "\($at): too few items" else empty end),
        (if ($s.maxItems // 1e9) < ($v | length) then "\($at): too many items" else empty end),
        (if $s.items then range($v | length) as $i
            | $v[$i] | check($root; $s.items; "\($at)[\($i)]") else empty end)
        else empty end);

$s[0] as $schema | $v[0] | check($schema; $schema; "$")
