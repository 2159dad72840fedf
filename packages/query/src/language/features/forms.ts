import type { FeatureGroup } from '../feature-group.js'

export const forms: FeatureGroup = {
  title: 'Forms of arguments',
  about: 'For a form that a version lacks, its parsers give the error for a wrong argument.',
  source: 'the comments in packages/query/src/language/features/forms.ts',
  since: {
    '3.2': [
      // {$type: 'string'}: matcher/expression_parser.cpp, parseType.
      'typeAliases',
      // {$unwind: {path}}: document_source_unwind.cpp.
      'unwindDocument',
      // {$project: {a: ['$b']}}: document_source_project.cpp; release notes 3.2.
      'arrayLiterals',
    ],
    '3.4': [
      // {$project: {a: 0}}: release notes 3.4, $project.
      'projectExclusion',
    ],
    '3.6': [
      // 'a.$[]', 'a.$[id]' and the field arrayFilters: release notes 3.6.
      'arrayFilters',
      // Names with a dot in what an update stores, and in an _id: update.cpp, storageValid, and
      // BSONObj::storageValidEmbedded until 3.4.
      'dottedNames',
      // {$push: {a: {$each, $position: -1}}}: release notes 3.6.
      'negativePushPosition',
    ],
    '4.2': [
      // An array of stages as update: release notes 4.2.
      'updatePipelines',
    ],
    '4.4': [
      // Expressions and literals in the projection of find: projection_parser.cpp.
      'findExpressions',
      // {$out: {db, coll}}: document_source_out.cpp; release notes 4.4.
      'outDatabase',
    ],
    '5.0': [
      // {$set: {}}: update_driver.cpp; release notes 5.0.
      'emptyModifiers',
      // $lookup with localField, foreignField and pipeline: release notes 5.0.
      'lookupFieldsAndPipeline',
      // $ifNull with more than two arguments: release notes 5.0.
      'ifNullManyArguments',
    ],
    '5.2': [
      // {$filter: {limit}}: reference/operator/aggregation/filter.
      'filterLimit',
    ],
    '7.2': [
      // {$getField: '$a'}: expression.cpp, ExpressionGetField.
      'computedFieldNames',
    ],
    '8.0': [
      // {$convert: {to: 'binData', format}}: reference/operator/aggregation/convert.
      'binaryConversions',
    ],
  },
}
