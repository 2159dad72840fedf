import type { ReshardingEvent } from '@shardlab/actor'
import { toExtendedJson } from '@shardlab/bson'
import type { CatalogHost } from '../host.js'
import type { CoordinatorState, ReshardingOperation } from './operation.js'

const reported: ReadonlySet<CoordinatorState | ReshardingEvent['state']> = new Set([
  'cloning',
  'applying',
  'blocking-writes',
  'committed',
  'ended',
  'aborted',
])

export function reportState(
  { node: { context } }: CatalogHost,
  { ns, key, startedAtMs }: ReshardingOperation,
  state: CoordinatorState | ReshardingEvent['state'],
): void {
  if (!isReported(state)) return
  const atMs = context.now()
  context.emit({
    type: 'resharding',
    atMs,
    ns,
    key: toExtendedJson(key),
    state,
    durationMs: atMs - startedAtMs,
  })
}

function isReported(state: CoordinatorState | ReshardingEvent['state']): state is ReshardingEvent['state'] {
  return reported.has(state)
}
