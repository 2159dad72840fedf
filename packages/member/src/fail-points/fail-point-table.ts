/**
 * The fail points of members, by the names of the server. A row with a step is evaluated at the
 * named step of the same moment of the protocol. Two fail points of the server may share one step.
 * Server: commands.cpp, operation_context.cpp, migration_source_manager.cpp,
 * migration_destination_manager.cpp, migration_coordinator.cpp, range_deletion_util.cpp,
 * resharding_coordinator.cpp, resharding_recipient_service.cpp, move_primary_coordinator.cpp.
 */
import type { NamedStep } from '@shardlab/actor'
import type { Behaviours } from '@shardlab/sharding'

export type StepAction =
  | 'hold'
  /** Fails with the error of the server. */
  | { readonly code: 'InternalError'; readonly message: string }

type Flag = { [K in keyof Behaviours]: Behaviours[K] extends boolean ? K : never }[keyof Behaviours]

export interface FailPointRow {
  readonly name: string
  /** Null: every member has it. */
  readonly only: 'mongos' | 'mongod' | null
  /** The behaviour that has it; null: all versions do. */
  readonly behaviour: Flag | null
  /** Null: code evaluates it by name. */
  readonly step: NamedStep | null
  readonly action: StepAction
  /** Required detail of the step; null: any. */
  readonly detail: readonly [name: string, value: string] | null
}

type Asked = Pick<FailPointRow, 'only' | 'behaviour'>

const asked = <Name extends string>(name: Name, { only = null, behaviour = null }: Partial<Asked> = {}) =>
  ({ name, only, behaviour, step: null, action: 'hold', detail: null }) as const satisfies FailPointRow

const holding = <Name extends string>(
  name: Name,
  step: NamedStep,
  behaviour: Flag = 'numberedFailPoints',
  decision: string | null = null,
) =>
  ({
    name,
    only: 'mongod',
    behaviour,
    step,
    action: 'hold',
    detail: decision === null ? null : ['decision', decision],
  }) satisfies FailPointRow

export const failPointTable = [
  asked('dummy'),
  asked('failCommand', { only: 'mongod', behaviour: 'failCommandOnMongod' }),
  asked('failCommand', { only: 'mongos', behaviour: 'failCommandOnMongos' }),
  asked('failGetMoreAfterCursorCheckout', { behaviour: 'numberedFailPoints' }),
  asked('maxTimeAlwaysTimeOut'),
  asked('maxTimeNeverTimeOut'),
  asked('onPrimaryTransactionalWrite', { only: 'mongod', behaviour: 'transactions' }),

  holding('moveChunkHangAtStep1', 'shard.migration.started'),
  holding('moveChunkHangAtStep2', 'shard.migration.started'),
  holding('moveChunkHangAtStep3', 'shard.migration.recipient-asked'),
  holding('moveChunkHangAtStep4', 'shard.migration.caught-up'),
  {
    name: 'failMigrationCommit',
    only: 'mongod',
    behaviour: 'numberedFailPoints',
    step: 'shard.migration.recipient-committed',
    action: {
      code: 'InternalError',
      message: 'commit clone failed :: caused by :: Failing _recvChunkCommit due to failpoint.',
    },
    detail: null,
  },
  holding('moveChunkHangAtStep5', 'shard.migration.recipient-committed'),
  holding('hangBeforePostMigrationCommitRefresh', 'shard.migration.committed'),
  holding('hangBeforeLeavingCriticalSection', 'shard.migration.decided', 'numberedFailPoints', 'committed'),
  holding('hangBeforeSendingCommitDecision', 'shard.migration.applied', 'numberedFailPoints', 'committed'),
  holding('hangBeforeSendingAbortDecision', 'shard.migration.applied', 'numberedFailPoints', 'aborted'),
  holding(
    'hangBeforeForgettingMigrationAfterCommitDecision',
    'shard.migration.recipient-told',
    'numberedFailPoints',
    'committed',
  ),
  holding(
    'hangBeforeForgettingMigrationAfterAbortDecision',
    'shard.migration.recipient-told',
    'numberedFailPoints',
    'aborted',
  ),
  holding('moveChunkHangAtStep6', 'shard.migration.forgotten', 'numberedFailPoints', 'committed'),

  holding('migrateThreadHangAtStep1', 'shard.migration.recipient-started'),
  holding('migrateThreadHangAtStep2', 'shard.migration.recipient-prepared'),
  holding('migrateThreadHangAtStep3', 'shard.migration.recipient-prepared'),
  holding('migrateThreadHangAtStep4', 'shard.migration.recipient-cloned'),
  holding('migrateThreadHangAtStep6', 'shard.migration.recipient-draining'),
  holding('suspendRangeDeletion', 'shard.range-deleter.started'),

  holding('reshardingPauseCoordinatorBeforeCloning', 'config.resharding.donors-ready', 'reshardCollectionCommand'),
  holding(
    'reshardingPauseCoordinatorBeforeBlockingWrites',
    'config.resharding.caught-up',
    'reshardingBlockingWritesFailPoint',
  ),
  holding(
    'reshardingPauseCoordinatorBeforeDecisionPersisted',
    'config.resharding.consistent',
    'reshardCollectionCommand',
  ),
  holding('reshardingPauseRecipientBeforeCloning', 'shard.resharding.collection-created', 'reshardCollectionCommand'),
  holding('reshardingPauseRecipientDuringOplogApplication', 'shard.resharding.applied', 'reshardCollectionCommand'),

  holding('hangBeforeCloningData', 'shard.move-primary.started', 'movePrimaryFailPoints'),
  holding('hangBeforeMovePrimaryCriticalSection', 'shard.move-primary.cloned', 'movePrimaryFailPoints'),
] as const satisfies readonly FailPointRow[]

export type FailPointName = (typeof failPointTable)[number]['name']
