/** Server: resolved_view.cpp. */
import { BsonType, CommandError, DocumentWriter, elementsOf, ErrorCodes, findField } from '@shardlab/bson'

export interface ResolvedView {
  /** The collection below all views. */
  readonly ns: string
  /** The pipelines of all views, the lowest view first. */
  readonly pipeline: readonly Uint8Array[]
  /** `{ locale: 'simple' }` where the view has none. */
  readonly collation: Uint8Array
}

/** With this error a shard asks the router to run the aggregate itself. */
export function resolvedViewError({ ns, pipeline, collation }: ResolvedView): CommandError {
  const extra = new DocumentWriter(512).startDocument('resolvedView').string('ns', ns).documents('pipeline', pipeline)
  return new CommandError(
    'CommandOnShardedViewNotSupportedOnMongod',
    'Resolved views on sharded collections must be executed by mongos',
    {
      extra: extra.document('collation', collation).end().finish(),
    },
  )
}

/** Reads error 169 of a shard; null: another error */
export function resolvedViewOf(error: unknown): ResolvedView | null {
  if (
    !(error instanceof CommandError) ||
    error.code !== ErrorCodes.CommandOnShardedViewNotSupportedOnMongod ||
    error.extra === null
  )
    return null
  const view = findField(error.extra, 'resolvedView')
  if (view?.type !== BsonType.object) return null
  return {
    ns: findField(view.bytes, 'ns', view.start)!.asString(),
    pipeline: elementsOf(findField(view.bytes, 'pipeline', view.start)!).map((each) => each.slice()),
    collation: findField(view.bytes, 'collation', view.start)!.slice(),
  }
}
