import type { EvaluationContext } from '@shardlab/query'
import type { Behaviours } from '@shardlab/sharding'

export function queryLanguageOf({
  language,
  undefinedMatchesNull,
  dollarFieldsCanBeStored,
  exprComparisonsGiveBounds,
  emptyInIsFalse,
}: Behaviours): Pick<
  EvaluationContext,
  'language' | 'undefinedMatchesNull' | 'dollarFieldsCanBeStored' | 'exprComparisonsGiveBounds' | 'emptyInIsFalse'
> {
  return { language, undefinedMatchesNull, dollarFieldsCanBeStored, exprComparisonsGiveBounds, emptyInIsFalse }
}
