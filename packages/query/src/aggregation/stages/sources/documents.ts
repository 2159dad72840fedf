/** Manual: aggregation/documents; server: document_source_documents.cpp. */
import { BsonType, CommandError, elementsOf, emptyDocument, typeName, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../../../context.js'
import { formatValue } from '../../../values/format.js'
import { compileExpression } from '../../expressions/compile.js'
import { passThroughStage, type StageOperator } from '../stage.js'

/**
 * @throws CommandError 5858203 unless the expression evaluates to an array, 40228 unless all its
 *   elements are documents
 */
export function evaluateDocuments(argument: RawValue, context: EvaluationContext): Uint8Array[] {
  const value = compileExpression(argument, context).evaluateOn(emptyDocument)
  if (value?.type !== BsonType.array) throw new CommandError(5858203, `an array is expected`)
  return elementsOf(value).map((element) => {
    if (element.type === BsonType.object) return element.slice()
    throw new CommandError(
      40228,
      `'newRoot' expression must evaluate to an object, but resulting value was: ${formatValue(element)}. Type of resulting value: '${typeName(element.type)}'. Input document: {}`,
    )
  })
}

export const documentsStage: StageOperator = {
  name: '$documents',
  manualPage: 'aggregation/documents',
  status: 'complete',
  sharded: 'merger',
  position: 'first',
  notIn: ['facet'],
  source: { collection: 'none' },
  compile(argument, { evaluation }) {
    compileExpression(argument, evaluation)
    return passThroughStage('$documents')
  },
}
