/**
 * Operators that are allowed in some filters only. Server:
 * `MatchExpressionParser::AllowedFeatures`.
 */

/** `late-text`: $text is parsed, and refused because of its position. */
export type FilterFeature = 'text' | 'late-text' | 'near' | 'where' | 'expr' | 'jsonSchema'

/** The restricted operators that a filter may use. */
export type FilterFeatures = ReadonlySet<FilterFeature>

/** The filter of a command. */
export const allFilterFeatures: FilterFeatures = new Set(['text', 'near', 'where', 'expr', 'jsonSchema'])
/** $match, and the filters of other stages. */
export const pipelineFilterFeatures: FilterFeatures = new Set(['text', 'expr', 'jsonSchema'])
/** A $match that is not the first stage. */
export const laterFilterFeatures: FilterFeatures = new Set(['late-text', 'expr', 'jsonSchema'])
/** Validators of collections. */
export const validatorFilterFeatures: FilterFeatures = new Set(['expr', 'jsonSchema'])
/** Array filters, $pull, $elemMatch of projections, partial indexes. */
export const noFilterFeatures: FilterFeatures = new Set()
