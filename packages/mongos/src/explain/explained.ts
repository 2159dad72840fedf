/** Where an explained command goes and what stands above what the shards say. Server: cluster_explain.cpp. */
import { BsonType, CommandError, documentsOf, emptyDocument, findField, isEmptyDocument } from '@shardlab/bson'

/** Stage of the router's own. */
export type RouterStage = 'SINGLE_SHARD' | 'SHARD_MERGE' | 'SHARD_MERGE_SORT' | 'SHARD_WRITE'

/** What of a command says where it goes. */
export interface ExplainedTarget {
  readonly filter: Uint8Array | undefined
  readonly collation: Uint8Array | undefined
  stage(shardCount: number): RouterStage
}

/** @throws CommandError 16 InvalidLength for a batch of writes */
export function targetOfExplained(name: string, body: Uint8Array): ExplainedTarget {
  switch (name) {
    case 'find':
      return { ...searchOf(body, 'filter'), stage: readStage(isSorted(body)) }
    case 'count':
    case 'distinct':
      return { ...searchOf(body, 'query'), stage: readStage(false) }
    case 'findAndModify':
    case 'findandmodify':
      return { ...searchOf(body, 'query'), stage: readStage(false) }
    default:
      return { ...searchOf(onlyStatement(body, name === 'update' ? 'updates' : 'deletes'), 'q'), stage: () => 'SHARD_WRITE' }
  }
}

function searchOf(document: Uint8Array, filter: string): Pick<ExplainedTarget, 'filter' | 'collation'> {
  return { filter: documentIn(document, filter), collation: documentIn(document, 'collation') }
}

function readStage(sorted: boolean): ExplainedTarget['stage'] {
  return (shardCount) => (shardCount === 1 ? 'SINGLE_SHARD' : sorted ? 'SHARD_MERGE_SORT' : 'SHARD_MERGE')
}

/** As on the server any sort counts, the natural order too. */
function isSorted(body: Uint8Array): boolean {
  return !isEmptyDocument(documentIn(body, 'sort') ?? emptyDocument)
}

function documentIn(document: Uint8Array, name: string): Uint8Array | undefined {
  const value = findField(document, name)
  return value?.type === BsonType.object ? value.slice() : undefined
}

function onlyStatement(body: Uint8Array, name: string): Uint8Array {
  const value = findField(body, name)
  const statements = value?.type === BsonType.array ? documentsOf(value) : []
  if (statements.length !== 1) throw new CommandError('InvalidLength', 'explained write batches must be of size 1')
  return statements[0]!
}
