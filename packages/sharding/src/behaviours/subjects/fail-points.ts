/** Fail points, and what a failure tells drivers. */
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
    'failCommand knows errorLabels, errorExtraInfo, blockConnection, appName, namespace, threadName and failLocalClients.',
    'commands.cpp; between 4.1.6 and 4.3.4',
    ['2.6', false],
    ['4.4', true],
  ),
  failCommandForAll: row<boolean>(
    'failCommand knows failAllCommands, which means every command.',
    'commands.cpp (SERVER-63485), new in 6.0',
    ['2.6', false],
    ['6.0.2', true],
  ),
  failPointCounts: row<boolean>(
    'Fail points count how often they struck: configureFailPoint tells it, waitForFailPoint waits for it, and there is the mode skip.',
    'fail_point.cpp, jstests/fail_point/fail_point.js; new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  numberedFailPoints: row<boolean>(
    'There are failGetMoreAfterCursorCheckout and the fail points at the steps of migrations, whose numbers mean what they mean since 4.4.',
    'migration_source_manager.cpp, migration_destination_manager.cpp, cluster_find.cpp',
    ['2.6', false],
    ['4.4', true],
  ),
  reshardingBlockingWritesFailPoint: row<boolean>(
    'There is the fail point reshardingPauseCoordinatorBeforeBlockingWrites.',
    'resharding_coordinator_service.cpp; in 5.0 it was another one',
    ['2.6', false],
    ['6.0.2', true],
  ),
  movePrimaryFailPoints: row<boolean>(
    'There are hangBeforeCloningData and hangBeforeMovePrimaryCriticalSection.',
    'move_primary_coordinator.cpp',
    ['2.6', false],
    ['8.0', true],
  ),
  stateChangesHidden: row<boolean>(
    'A router tells clients HostUnreachable where a shard steps down or shuts down.',
    'rewrite_state_change_errors.cpp; new in 5.0 (SERVER-50549)',
    ['2.6', false],
    ['5.0', true],
  ),
  retryableWriteErrorLabel: row<boolean>(
    'The server itself puts the label RetryableWriteError on failures of retryable writes.',
    'error_labels.cpp; specification of the drivers, retryable writes; new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
}
