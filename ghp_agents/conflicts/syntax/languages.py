"""The languages that are understood: their files, and the parts of their syntax trees.

The names of nodes are those of the tree-sitter grammars.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Language(NamedTuple):
    """How to read one language's syntax tree."""

    name: str
    package: str  # the grammar's Python package
    definitions: Mapping[str, str]  # node -> kind; its name is in the field of `name_fields`
    classes: Mapping[str, str]  # node -> field with the name: what its content belongs to
    functions: frozenset[str]  # nodes with local names
    imports: frozenset[str]
    binds: frozenset[str]  # `node.field` or `node.*`: the name is bound here, not used
    members: Mapping[str, str]  # `node.field` -> field of the object
    skipped: frozenset[str] = frozenset()  # `node.field`: neither
    wrappers: frozenset[str] = frozenset()  # nodes to look through
    name_fields: Mapping[str, str] = {}  # where it is not `name`
    identifiers: tuple[str, ...] = ("identifier",)
    function: str = "language"  # of the package


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _map(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


PYTHON = Language(
    "python",
    "tree_sitter_python",
    _map("function_definition=function class_definition=class assignment=constant"),
    _map("class_definition=name"),
    _set(
        "function_definition lambda list_comprehension set_comprehension dictionary_comprehension "
        "generator_expression"
    ),
    _set("import_statement import_from_statement future_import_statement"),
    _set(
        "parameters.* lambda_parameters.* default_parameter.name typed_parameter.* "
        "typed_default_parameter.name list_splat_pattern.* dictionary_splat_pattern.* "
        "as_pattern_target.* named_expression.name pattern_list.* tuple_pattern.* list_pattern.* "
        "for_statement.left for_in_clause.left global_statement.* nonlocal_statement.* "
        "assignment.left augmented_assignment.left function_definition.name class_definition.name "
        "case_pattern.* delete_statement.* keyword_pattern.* splat_pattern.*"
    ),
    _map("attribute.attribute=object"),
    _set("keyword_argument.name"),
    _set("dotted_name"),
    _map("assignment=left"),
)

_JS_BINDS = (
    "required_parameter.pattern optional_parameter.pattern formal_parameters.* rest_pattern.* "
    "array_pattern.* pair_pattern.value assignment_pattern.left object_assignment_pattern.left "
    "object_pattern.* variable_declarator.name function_declaration.name class_declaration.name "
    "generator_function_declaration.name function_expression.name class.name for_in_statement.left "
    "catch_clause.parameter arrow_function.parameter type_parameter.name "
    "abstract_class_declaration.name interface_declaration.name type_alias_declaration.name "
    "enum_declaration.name internal_module.name function_signature.name assignment_expression.left "
    "method_definition.name field_definition.property public_field_definition.name"
)
_JS_DEFINITIONS = (
    "function_declaration=function generator_function_declaration=function class_declaration=class "
    "abstract_class_declaration=class interface_declaration=type type_alias_declaration=type "
    "enum_declaration=type variable_declarator=constant method_definition=method "
)
JAVASCRIPT = Language(
    "javascript",
    "tree_sitter_javascript",
    _map(_JS_DEFINITIONS),
    _map(
        "class_declaration=name class=name abstract_class_declaration=name "
        "interface_declaration=name internal_module=name"
    ),
    _set(
        "function_declaration generator_function_declaration function_expression arrow_function "
        "method_definition generator_function function_signature"
    ),
    _set("import_statement"),
    _set(_JS_BINDS),
    _map(
        "member_expression.property=object nested_type_identifier.name=module "
        "nested_identifier.property=object"
    ),
    _set("pair.key property_signature.name method_signature.name labeled_statement.label"),
    identifiers=(
        "identifier",
        "type_identifier",
        "property_identifier",
        "private_property_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
    ),
)
TYPESCRIPT = JAVASCRIPT._replace(
    name="typescript", package="tree_sitter_typescript", function="language_typescript"
)
TSX = TYPESCRIPT._replace(name="tsx", function="language_tsx")

GO = Language(
    "go",
    "tree_sitter_go",
    _map(
        "function_declaration=function method_declaration=method type_spec=type type_alias=type "
        "const_spec=constant var_spec=constant"
    ),
    {},
    _set("function_declaration method_declaration func_literal"),
    _set("import_spec"),
    _set(
        "parameter_declaration.name variadic_parameter_declaration.name short_var_declaration.left "
        "range_clause.left var_spec.name const_spec.name type_spec.name type_alias.name "
        "function_declaration.name method_declaration.name type_parameter_declaration.name "
        "receive_statement.left type_switch_statement.alias field_declaration.name"
    ),
    _map("selector_expression.field=operand qualified_type.name=package"),
    _set("keyed_element.key"),
    _set("expression_list"),
    identifiers=("identifier", "type_identifier", "field_identifier"),
)

RUST = Language(
    "rust",
    "tree_sitter_rust",
    _map(
        "function_item=function struct_item=type enum_item=type union_item=type trait_item=type "
        "const_item=constant static_item=constant type_item=type macro_definition=macro"
    ),
    _map("impl_item=type trait_item=name mod_item=name"),
    _set("function_item closure_expression"),
    _set("use_declaration"),
    _set(
        "parameter.pattern let_declaration.pattern closure_parameters.* tuple_pattern.* "
        "let_condition.pattern match_pattern.* captured_pattern.* for_expression.pattern "
        "tuple_struct_pattern.* ref_pattern.* mut_pattern.* slice_pattern.* or_pattern.* "
        "field_pattern.* reference_pattern.* type_parameter.* type_parameters.* function_item.name "
        "struct_item.name enum_item.name union_item.name trait_item.name const_item.name "
        "static_item.name type_item.name macro_definition.name mod_item.name"
    ),
    _map(
        "scoped_identifier.name=path scoped_type_identifier.name=path field_expression.field=value"
    ),
    _set(
        "field_initializer.field field_declaration.name enum_variant.name tuple_struct_pattern.type"
    ),
    identifiers=("identifier", "type_identifier", "field_identifier"),
)

JAVA = Language(
    "java",
    "tree_sitter_java",
    _map(
        "class_declaration=class interface_declaration=class enum_declaration=class "
        "record_declaration=class method_declaration=method variable_declarator=constant"
    ),
    _map(
        "class_declaration=name interface_declaration=name enum_declaration=name "
        "record_declaration=name"
    ),
    _set("method_declaration constructor_declaration lambda_expression static_initializer"),
    _set("import_declaration"),
    _set(
        "formal_parameter.name variable_declarator.name enhanced_for_statement.name "
        "inferred_parameters.* lambda_expression.parameters catch_formal_parameter.name "
        "resource.name type_parameter.* class_declaration.name interface_declaration.name "
        "enum_declaration.name record_declaration.name method_declaration.name enum_constant.name "
        "constructor_declaration.name type_pattern.*"
    ),
    _map(
        "method_invocation.name=object field_access.field=object scoped_type_identifier.name=scope"
    ),
    _set("element_value_pair.key package_declaration.* labeled_statement.*"),
    identifiers=("identifier", "type_identifier"),
)

RUBY = Language(
    "ruby",
    "tree_sitter_ruby",
    _map("class=class module=class assignment=constant"),
    _map("class=name module=name"),
    _set("method singleton_method block do_block lambda"),
    _set(""),
    _set("assignment.left left_assignment_list.* class.name module.name"),
    _map("scope_resolution.name=scope"),
    name_fields=_map("assignment=left"),
    identifiers=("constant",),
)

C = Language(
    "c",
    "tree_sitter_c",
    _map(
        "function_definition=function preproc_def=macro preproc_function_def=macro "
        "type_definition=type struct_specifier=type union_specifier=type enum_specifier=type "
        "enumerator=constant"
    ),
    {},
    _set("function_definition"),
    _set(""),
    _set(
        "parameter_declaration.declarator init_declarator.declarator pointer_declarator.declarator "
        "array_declarator.declarator function_declarator.declarator declaration.declarator "
        "preproc_def.name preproc_function_def.name preproc_params.* enumerator.name "
        "type_definition.declarator parenthesized_declarator.*"
    ),
    {},
    _set("labeled_statement.label preproc_ifdef.name preproc_defined.*"),
    name_fields=_map("function_definition=declarator type_definition=declarator"),
    identifiers=("identifier", "type_identifier"),
)

LANGUAGES = {
    language.name: language
    for language in (PYTHON, JAVASCRIPT, TYPESCRIPT, TSX, GO, RUST, JAVA, RUBY, C)
}
_SUFFIXES = _map(
    ".py=python .pyi=python .js=javascript .jsx=javascript .mjs=javascript .cjs=javascript "
    ".ts=typescript .mts=typescript .cts=typescript .tsx=tsx .go=go .rs=rust .java=java .rb=ruby "
    ".c=c .h=c"
)
_FAMILY = _map("typescript=javascript tsx=javascript")


def language_of(path: str) -> str:
    """The language of a file, by its name; empty if it is not understood."""
    return _SUFFIXES.get("." + path.rpartition("/")[2].rpartition(".")[2], "")


def family(path: str) -> str:
    """The languages that import from each other have one name."""
    language = language_of(path)
    return _FAMILY.get(language, language)
