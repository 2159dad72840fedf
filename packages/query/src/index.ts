export * from './context.js'
export { historiesOf, isPresentIn, type FeatureGroup, type FeatureHistory } from './language/feature-group.js'
export { languageFeatures, languageOf, newestLanguage, type FeatureKind, type Language } from './language/language.js'
export {
  languageRules,
  type LanguageRule,
  type HandwrittenParserName,
  type UnknownFieldAnswer,
} from './language/rules.js'
export { boundsFor, boundsForOr, type BoundsOptions, type KeyBounds, type KeyFieldBounds } from './bounds/key-bounds.js'
export { equalityValues, upsertBase } from './bounds/equalities.js'
export { isCollatable } from './bounds/predicate-bounds.js'
export { soleEquality, SoleEquality } from './bounds/sole-equality.js'
export { isEverything, isPoint, type Interval } from './bounds/interval.js'
export { parseKeyPattern, type KeyField, type KeyPattern } from './bounds/key-pattern.js'
export type * from './filter/ast.js'
export { pathNodes } from './filter/ast.js'
export { compileFilter, compileFilterNode, type Filter } from './filter/compile.js'
export { isTriviallyFalse } from './filter/trivially-false.js'
export * from './filter/features.js'
export { keptLiterals, serializeFilter, type LiteralForm } from './filter/serialize.js'
export { wrappedError } from './filter/wrapped-errors.js'
export { compileJsonSchema } from './filter/json-schema/compile.js'
export type { SchemaTest } from './filter/json-schema/keyword.js'
export { compilePattern, type Pattern } from './filter/patterns/pattern.js'
export { fieldPath, type FieldPath, type PathPart } from './path/field-path.js'
export { keyTuplesOf, type KeyTuple } from './path/key-tuples.js'
export {
  parseSort,
  sortKeyOf,
  sortKeyOfValues,
  sortKeyValues,
  type SortPart,
  type SortPattern,
} from './sort/sort-pattern.js'
export { sortOrder, type SortKey, type SortOrder } from './sort/sort-order.js'
export { valueClasses } from './values/value-classes.js'
export { compileExpression, type DocumentExpression } from './aggregation/expressions/compile.js'
export { formatDocument, formatField, formatValue } from './values/format.js'
export { integerArgument, nonNegativeArgument } from './values/integer-argument.js'
export {
  compilePipeline,
  type OuterStage,
  type Pipeline,
  type PipelineOptions,
  type PipelineRun,
} from './aggregation/pipeline/pipeline.js'
export { expandStages, mergeCursorsStage } from './aggregation/pipeline/steps.js'
export { shownProjection } from './aggregation/pipeline/project-argument.js'
export type { LeadingProjection, LeadingQuery } from './aggregation/pipeline/leading-query.js'
export type * from './aggregation/stages/joins/join-request.js'
export { RunSorter } from './sort/run-sorter.js'
export type { ForeignCollection, StageSource } from './aggregation/stages/stage.js'
export { evaluateDocuments } from './aggregation/stages/sources/documents.js'
export { internalDatabases } from './aggregation/stages/writers/internal-databases.js'
export { parseOut, type OutTarget } from './aggregation/stages/writers/out.js'
export { parseMerge, type MergeSpecification } from './aggregation/stages/writers/merge.js'
export { mergeRequirements, type MergeRequirement } from './aggregation/pipeline/merge-requirements.js'
export { splitBeforeJoins, splitPipeline, type SplitPipeline } from './aggregation/pipeline/split.js'
export { compileProjection, type Projection, type ProjectionOptions } from './projection/compile.js'
export {
  compileUpdate,
  type ApplyOptions,
  type Update,
  type UpdateOptions,
  type UpdateSpecification,
} from './update/compile.js'
export { compileDelta } from './update/delta-update.js'
export { replaceDocument } from './update/replacement.js'
export { updateModifiers } from './update/modifiers/table.js'
export { pathOperators, rootOperators } from './filter/operators/table.js'
export { expressionOperators } from './aggregation/expressions/table.js'
export { accumulatorOperators } from './aggregation/accumulators/table.js'
export { windowFunctions } from './aggregation/windows/table.js'
export { stageOperators } from './aggregation/stages/table.js'
export { parseFilter } from './filter/parse.js'
export { letVariables } from './aggregation/let-variables.js'
export { compileCollation, type Collation } from './values/collation/collation.js'
export { filterShape } from './shape/clauses.js'
export { queryShape, queryShapeHash } from './shape/query-shape.js'
export { parseStruct } from './values/idl.js'
