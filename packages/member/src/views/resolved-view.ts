/** What a view stands for, and how a shard tells a router about it. Server: resolved_view.cpp. */
import { CommandError, DocumentWriter, BsonType, elementsOf, findField } from '@shardlab/bson'

export interface ResolvedView {
  /** The collection below all views. */
  readonly ns: string
  /** All their pipelines, that of the lowest view first. */
  readonly pipeline: readonly Uint8Array[]
  /** Always there: `{ locale: 'simple' }` where the view names none. */
  readonly collation: Uint8Array
}

/** What a shard tells a router: run it again as an aggregate, by yourself. */
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

/** The resolved view in an error of a shard (code 169, `resolvedView`); null when it is another error. */
export function resolvedViewOf(error: unknown): ResolvedView | null {
  if (!(error instanceof CommandError) || error.code !== 169 || error.extra === null) return null
  const view = findField(error.extra, 'resolvedView')
  if (view?.type !== BsonType.object) return null
  return {
    ns: findField(view.bytes, 'ns', view.start)!.asString(),
    pipeline: elementsOf(findField(view.bytes, 'pipeline', view.start)!).map((each) => each.slice()),
    collation: findField(view.bytes, 'collation', view.start)!.slice(),
  }
}
