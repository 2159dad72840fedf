/** What queries mean and what errors say, where releases differ in more than a feature. */
import type { Release } from './feature-group.js'

export interface LanguageRule<T> {
  /** One sentence: the meaning of the values; of a boolean, the meaning of true. */
  readonly about: string
  /** Manual page or server source. */
  readonly source: string
  /** Ascending; a value holds until the release of the next one. The first is for 2.6. */
  readonly values: readonly (readonly [from: Release, value: T])[]
}

const rule = <T>(about: string, source: string, ...values: readonly (readonly [Release, T])[]): LanguageRule<T> => ({
  about,
  source,
  values,
})

/**
 * `unnamed`: as refused, without the name of the command; `unrecognized`, `quoted`, `invalid` and
 * `option` have words of their own, and `modification` those of collMod.
 */
export type UnknownFieldAnswer =
  | 'ignored'
  | 'refused'
  | 'unnamed'
  | 'unrecognized'
  | 'quoted'
  | 'invalid'
  | 'option'
  | 'modification'
  | 'modification without code'
  | 'argument'

/** Commands on users and roles. */
const onUsers: Readonly<Record<string, UnknownFieldAnswer>> = Object.fromEntries(
  [
    ...['createUser', 'updateUser', 'dropUser', 'dropAllUsersFromDatabase', 'grantRolesToUser', 'revokeRolesFromUser'],
    ...['createRole', 'updateRole', 'dropRole', 'dropAllRolesFromDatabase', 'grantRolesToRole', 'revokeRolesFromRole'],
    ...['grantPrivilegesToRole', 'revokePrivilegesFromRole', 'usersInfo', 'rolesInfo'],
  ].map((command) => [command, 'argument' as const]),
)

/** Named after the commands; `list`: listCollections and listIndexes. */
export type HandwrittenParserName = 'aggregate' | 'distinct' | 'find' | 'getMore' | 'killCursors' | 'list'

const parsersOf44 = {
  aggregate: 'aggregate',
  find: 'find',
  getMore: 'getMore',
  killCursors: 'killCursors',
  listCollections: 'list',
  listIndexes: 'list',
} as const

export const languageRules = {
  unknownFields: rule<Readonly<Record<string, UnknownFieldAnswer>>>(
    'How commands answer fields that they do not know; `*` is for all others.',
    'pipeline.cpp of 2.6; user_management_commands_parser.cpp; the parsers that packages/member/src/arguments/command-language.ts names; generated ones since 5.0',
    [
      '2.6',
      {
        '*': 'ignored',
        aggregate: 'unrecognized',
        collMod: 'modification without code',
        'collMod.index': 'ignored',
        ...onUsers,
      },
    ],
    [
      '3.6',
      {
        '*': 'ignored',
        aggregate: 'unrecognized',
        collMod: 'modification',
        'collMod.index': 'ignored',
        create: 'option',
        createIndexes: 'invalid',
        delete: 'refused',
        find: 'quoted',
        getMore: 'quoted',
        insert: 'refused',
        update: 'refused',
        ...onUsers,
      },
    ],
    [
      '4.2',
      {
        '*': 'refused',
        aggregate: 'unrecognized',
        collMod: 'modification',
        'collMod.index': 'ignored',
        createIndexes: 'invalid',
        find: 'quoted',
        findAndModify: 'unnamed',
        getMore: 'quoted',
        killCursors: 'ignored',
        ...onUsers,
      },
    ],
    ['5.0', { '*': 'refused' }],
  ),
  comments: rule<Readonly<Record<string, 'any' | 'string' | 'absent'>>>(
    'The type of the field comment; `*` is for all other commands. Current drivers repeat it in getMore.',
    'SERVER-29794 in 4.3.1; query_request.cpp, parsed_distinct.cpp; aggregation_request.cpp since 3.6',
    ['2.6', { '*': 'absent', distinct: 'string', find: 'string', getMore: 'any' }],
    ['3.6', { '*': 'absent', aggregate: 'string', distinct: 'string', find: 'string', getMore: 'any' }],
    ['4.4', { '*': 'any' }],
  ),
  handwrittenParsers: rule<Readonly<Record<string, HandwrittenParserName>>>(
    'Commands whose parsers have their own answers to wrong types, missing fields and numbers out of range; absent ones have a generated parser.',
    'query_request.cpp, aggregation_request.cpp, cursor_request.cpp, getmore_request.cpp, killcursors_request.cpp until 4.4; parsed_distinct.cpp until 4.0',
    ['2.6', { ...parsersOf44, distinct: 'distinct' }],
    ['4.2', parsersOf44],
    ['5.0', {}],
  ),
  boundsFindTheirIndex: rule<'compatible' | 'ordered' | null>(
    'min and max without a hint select the first index with their fields, or the first one in which min is not after max; null: they need a hint (51173).',
    'query_planner.cpp; release notes 4.2, min and max',
    ['2.6', 'compatible'],
    ['3.4', 'ordered'],
    ['4.2', null],
  ),
  unknownStageCode: rule<number>(
    'The code for an unknown stage.',
    'pipeline.cpp (2.6), document_source.cpp, lite_parsed_document_source.cpp',
    ['2.6', 16436],
    ['3.4', 40324],
  ),
  stageFieldCountCode: rule<number>(
    'The code for a stage without exactly one field.',
    'pipeline.cpp (2.6), lite_parsed_document_source.cpp',
    ['2.6', 16435],
    ['3.4', 40323],
  ),
  unknownExpression: rule<readonly [code: number, text: string]>(
    'The error for an unknown expression: its code, and the text before the name.',
    'expression.cpp, Expression::parseExpression',
    ['2.6', [15999, 'invalid operator']],
    ['3.4', [168, 'Unrecognized expression']],
  ),
  substrKeepsCharacters: rule<boolean>(
    '$substr is $substrBytes, also in errors, and refuses to cut a character and to begin below 0; otherwise it returns the bytes, or an empty text.',
    'expression.cpp of 2.6, ExpressionSubstr; reference/operator/aggregation/substrBytes, new in 3.4',
    ['2.6', false],
    ['3.4', true],
  ),
  projectionsHaveOwnParser: rule<boolean>(
    'Projections have a parser of their own, with 31325 for an unknown expression, 31249 and 31250 for paths that collide, 31253 and 31254 for a mix of inclusion and exclusion; otherwise $project has codes of its own.',
    'projection_parser.cpp, new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  projectErrorsNameStage: rule<boolean>(
    'Errors about the fields of $project begin with "Invalid $project".',
    'document_source_project.cpp; parsed_aggregation_projection.cpp, new in 3.4',
    ['2.6', false],
    ['3.4', true],
  ),
  errorsSuggestGetField: rule<boolean>(
    'Errors about names with a dollar sign or a dot suggest $getField and $setField.',
    'expression_parser.cpp, field_path.cpp; new in 5.0 with $getField',
    ['2.6', false],
    ['5.0', true],
  ),
  filterErrors: rule<'plain' | 'wrapped'>(
    'Errors about a filter begin with "Can\'t canonicalize query" (17287) in find, and with "bad query" (16810) in $match.',
    'new_find.cpp and matcher.cpp (2.6)',
    ['2.6', 'wrapped'],
    ['3.2', 'plain'],
  ),
  filterErrorsNameOptimization: rule<boolean>(
    'A constant expression of $expr that fails is reported as "Failed to optimize expression", once for each level of the filter.',
    'matcher/expression.h, MatchExpression::optimize; since 4.2 at the latest',
    ['2.6', false],
    ['4.2', true],
  ),
  modifierErrorsNamePipelines: rule<boolean>(
    'The error for an unknown update operator also mentions pipelines.',
    'update_driver.cpp, validateMod; new in 4.2',
    ['2.6', false],
    ['4.2', true],
  ),
  unknownIndexOptions: rule<'ignored' | 'refused'>(
    'How createIndexes answers options of an index that it does not know.',
    'index_key_validate.cpp, new in 3.4',
    ['2.6', 'ignored'],
    ['3.4', 'refused'],
  ),
  indexIdentity: rule<'key' | 'collation' | 'options'>(
    'Indexes may both exist if they differ in this: the key; the key or the collation; also unique, sparse or the partial filter.',
    'index_catalog.cpp, doesSpecConflictWithExisting of 2.6 and 4.0; index_descriptor.cpp, compareIndexOptions; release notes 5.0, SERVER-25023 and SERVER-47659',
    ['2.6', 'key'],
    ['3.4', 'collation'],
    ['5.0', 'options'],
  ),
  indexConflicts: rule<'plain' | 'named' | 'compared'>(
    'The texts of errors about an index that exists. Until 4.0 the same index under another name is not an error.',
    'index_catalog.cpp of 2.6; index_catalog_impl.cpp of 4.0 and 4.4',
    ['2.6', 'plain'],
    ['3.4', 'named'],
    ['4.2', 'compared'],
  ),
  updateOrder: rule<'written' | 'names' | 'names and indexes'>(
    'The order in which an update adds fields: as written, by name, or by name with numbers in their order.',
    'modifier_interface.h until 3.4; update_object_node.cpp; reference/operator/update, processing order, changed in 5.0',
    ['2.6', 'written'],
    ['3.6', 'names'],
    ['5.0', 'names and indexes'],
  ),
  blockedPathsNamePrefix: rule<boolean>(
    'The error for a path that a value blocks names the part of the path before it.',
    'ops/path_support.cpp until 3.4, findLongestPrefix; update/update_leaf_node.cpp',
    ['2.6', true],
    ['3.6', false],
  ),
  updateFailureCodes: rule<{ readonly update: number; readonly insert: number } | null>(
    'The codes of all errors of update operators on a document that is updated or inserted, conflicting paths included; none: each error has its own, and conflicts are found before any document.',
    'exec/update.cpp until 3.4, transformAndUpdate and applyUpdateOpsForInsert; update_driver.cpp',
    ['2.6', { update: 16837, insert: 16836 }],
    ['3.6', null],
  ),
  sortErrors: rule<'bad sort' | 'explained'>(
    'A direction other than 1 or -1 in the sort of find and findAndModify is a "bad sort specification" (2); otherwise the error says why.',
    'query_request.cpp, isValidSortOrder; sort_pattern.cpp, new in 4.4',
    ['2.6', 'bad sort'],
    ['4.4', 'explained'],
  ),
  immutableIdErrors: rule<'document' | 'update'>(
    'Errors about a changed _id name the document, or the path of the update.',
    'exec/update.cpp, validate, and ops/modifier_object_replace.cpp until 3.4; update/update_leaf_node.cpp, object_replace_executor.cpp',
    ['2.6', 'document'],
    ['3.6', 'update'],
  ),
  emptySamples: rule<boolean>(
    '{$sample: {size: 0}} gives no document; otherwise it is refused.',
    'document_source_sample.cpp',
    ['2.6', true],
    ['7.0', false],
  ),
  densifyExcludesUpperBound: rule<boolean>(
    'Equal bounds of $densify contain no value; otherwise they contain one.',
    'document_source_densify.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  mergeMatchesNullish: rule<boolean>(
    '$merge accepts documents in which a field of `on` is missing or null, where its index allows it.',
    'merge_processor.cpp, document_source_merge.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  outNamesShardedTarget: rule<boolean>(
    'The error of $out for a sharded target names the collection.',
    'document_source_out.cpp',
    ['2.6', true],
    ['6.0', false],
  ),
  pipelineUpdatesAreReplacements: rule<boolean>(
    'The oplog, and change streams, have the whole document after an update by a pipeline. Otherwise they have its difference.',
    'update/pipeline_executor.cpp of 4.2 and 5.0',
    ['2.6', true],
    ['5.0', false],
  ),
  regexOptions: rule<'last' | 'once' | 'known'>(
    'The options of a regular expression in a filter: the last given ones, with unknown letters ignored; options in both $regex and $options are refused (51074, 51075); unknown letters, too (51108).',
    'expression_parser.cpp, parseRegexDocument; expression_leaf.cpp, flags2options of 4.0; flagsToPcreOptions, strict since 4.9',
    ['2.6', 'last'],
    ['4.2', 'once'],
    ['5.0', 'known'],
  ),
  regexOptionU: rule<boolean>(
    'Checked options of regular expressions may contain u, which changes nothing; $regexMatch and its like always check them.',
    'util/regex_util.cpp of 4.2 and 4.3, flagsToPcreOptions, without u; later with it, because drivers send it',
    ['2.6', false],
    ['5.0', true],
  ),
  regexUsesPcre2: rule<boolean>(
    'Errors of regular expressions are those of PCRE2.',
    'release notes 6.1',
    ['2.6', false],
    ['6.1', true],
  ),
  aggregateNeedsCursor: rule<boolean>(
    'An aggregate without `cursor` or `explain` is refused; otherwise its reply has all results in `result`.',
    'pipeline_command.cpp; release notes 3.6, aggregate',
    ['2.6', false],
    ['3.6', true],
  ),
  typesHaveClassicNames: rule<boolean>(
    'Errors of aggregations name types as NumberDouble; otherwise as double.',
    'bsontypes.cpp, new in 3.4',
    ['2.6', true],
    ['3.4', false],
  ),
  unwindNeedsArray: rule<boolean>(
    '$unwind of a value that is neither an array nor null fails with 15978; otherwise it is one element.',
    'document_source_unwind.cpp; release notes 3.2, $unwind',
    ['2.6', true],
    ['3.2', false],
  ),
  mergeCursorsIsReserved: rule<boolean>(
    '$mergeCursors in a request of a client fails with 5491300; otherwise it is an unknown stage.',
    'lite_parsed_pipeline.cpp, new in 5.0',
    ['2.6', false],
    ['5.0', true],
  ),
} as const satisfies Record<string, LanguageRule<unknown>>

type ValueOf<R> = R extends LanguageRule<infer T> ? T : never

export type LanguageRules = { readonly [K in keyof typeof languageRules]: ValueOf<(typeof languageRules)[K]> }
