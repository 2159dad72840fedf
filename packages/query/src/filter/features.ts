/** Operators that only some filters allow. Server: `MatchExpressionParser::AllowedFeatures`. */

/** `late-text`: $text is parsed, and refused because of its position. */
export type FilterFeature = 'text' | 'late-text' | 'near' | 'where' | 'expr' | 'jsonSchema'

export type FilterFeatures = ReadonlySet<FilterFeature>

/** For the filter of a command. */
export const allFilterFeatures: FilterFeatures = new Set(['text', 'near', 'where', 'expr', 'jsonSchema'])
/** For $match, and the filters of other stages. */
export const pipelineFilterFeatures: FilterFeatures = new Set(['text', 'expr', 'jsonSchema'])
/** For a $match that is not the first stage. */
export const laterFilterFeatures: FilterFeatures = new Set(['late-text', 'expr', 'jsonSchema'])
export const validatorFilterFeatures: FilterFeatures = new Set(['expr', 'jsonSchema'])
/** For array filters, $pull, $elemMatch of projections, partial indexes. */
export const noFilterFeatures: FilterFeatures = new Set()
