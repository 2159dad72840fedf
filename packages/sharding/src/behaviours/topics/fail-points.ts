/** Fail points, and what errors reveal to drivers. */
import { row } from '../row.js'

export const failPointBehaviours = {
  failCommandOnMongod: row<boolean>(
    'A mongod has the fail point failCommand.',
    'specification of the drivers, unified test format, configureFailPoint; new in 4.0',
    ['2.6', false],
    ['4.0', true],
  ),
  failCommandOnMongos: row<boolean>(
    'A mongos has the fail point failCommand.',
    'commands.cpp; new in 4.2 (SERVER-35518)',
    ['2.6', false],
    ['4.4', true],
  ),
  failCommandDetails: row<boolean>(
    'failCommand accepts errorLabels, errorExtraInfo, blockConnection, appName, namespace, threadName and failLocalClients.',
    'commands.cpp; between 4.1.6 and 4.3.4',
    ['2.6', false],
    ['4.4', true],
  ),
  failCommandForAll: row<boolean>(
    'failCommand accepts failAllCommands, which selects every command.',
    'commands.cpp (SERVER-63485), new in 6.0',
    ['2.6', false],
    ['6.0.2', true],
  ),
  failPointCounts: row<boolean>(
    'Fail points count how often they triggered: configureFailPoint returns the count, waitForFailPoint waits for it, and the mode skip exists.',
    'fail_point.cpp, jstests/fail_point/fail_point.js; new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  numberedFailPoints: row<boolean>(
    'failGetMoreAfterCursorCheckout and the fail points at the steps of migrations exist, with the step numbers of 4.4 and later.',
    'migration_source_manager.cpp, migration_destination_manager.cpp, cluster_find.cpp',
    ['2.6', false],
    ['4.4', true],
  ),
  reshardingBlockingWritesFailPoint: row<boolean>(
    'The fail point reshardingPauseCoordinatorBeforeBlockingWrites exists.',
    'resharding_coordinator_service.cpp; 5.0 has another fail point',
    ['2.6', false],
    ['6.0.2', true],
  ),
  movePrimaryFailPoints: row<boolean>(
    'The fail points hangBeforeCloningData and hangBeforeMovePrimaryCriticalSection exist.',
    'move_primary_coordinator.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  stateChangesHidden: row<boolean>(
    'If a shard steps down or shuts down, a router replies to clients with HostUnreachable.',
    'rewrite_state_change_errors.cpp; new in 5.0 (SERVER-50549)',
    ['2.6', false],
    ['5.0', true],
  ),
  retryableWriteErrorLabel: row<boolean>(
    'The server adds the label RetryableWriteError to failures of retryable writes.',
    'error_labels.cpp; specification of the drivers, retryable writes; new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
}
