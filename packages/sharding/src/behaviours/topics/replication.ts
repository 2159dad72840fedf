/** Replica sets: configurations, elections, status. The values of 2.6 are those of 4.0. */
import { row } from '../row.js'

export const replicationBehaviours = {
  insertEntriesHaveKeys: row<boolean>(
    'The oplog entry of an insert has the document key of that time. Otherwise change streams take the shard key of the time when they read the entry.',
    'SERVER-58694 (5.3); change_stream_event_transform.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  oplogEntries: row<'hashes' | 'o last' | 'wall first' | 'statements last' | 'statements first'>(
    'Fields of oplog entries: with h and without t, wall and ui; with h, and o as the last field; wall before v; stmtId after wall; stmtId before ts, and o2 for inserts, too. Updates are $v: 2 since 5.0.',
    'oplog.cpp (logopReplicaSet, _logOpWriter) of 2.6 and 4.0; oplog_entry.idl of 4.4, 5.0 and later',
    ['2.6', 'hashes'],
    ['4.0', 'o last'],
    ['4.4', 'wall first'],
    ['5.0', 'statements last'],
    ['6.0.2', 'statements first'],
  ),
  dropOfOplogHasCode: row<boolean>(
    'The refusal of a drop of the oplog has the code 5255000, otherwise none.',
    'drop_collection.cpp, CmdDrop in dbcommands.cpp before and after 4.9',
    ['2.6', false],
    ['5.0', true],
  ),
  periodicNoops: row<boolean>(
    'A primary writes a no-op when it has written nothing else for ten seconds.',
    'noop_writer.cpp; the default of writePeriodicNoops is true since 3.6',
    ['2.6', false],
    ['4.0', true],
  ),
  configTerm: row<boolean>(
    'Configurations of replica sets have a term, which orders them before their version.',
    'repl_set_config.cpp, new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
  configIsStructure: row<boolean>(
    'The configuration of a replica set is parsed as a structure (IDL), with its errors, and is written in its order: members follow the term. Delays are secondaryDelaySecs.',
    'repl_set_config.idl, member_config.idl, new in 5.0; repl_set_config.cpp of 4.0',
    ['2.6', false],
    ['5.0', true],
  ),
  memberIdMax: row<number>(
    'The greatest _id of a member of a replica set.',
    'member_id.h: 255; main refuses negative numbers only. The release of that change is unverified.',
    ['2.6', 255],
    ['5.0', 2_147_483_647],
  ),
  safeReconfig: row<boolean>(
    'replSetReconfig waits until the configuration before it is on a majority, and adds or removes one voter at most.',
    'reference/command/replSetReconfig, new in 4.4; repl_set_config_checks.cpp, validateSingleNodeChange',
    ['2.6', false],
    ['4.4', true],
  ),
  newVotersSyncFirst: row<boolean>(
    'A voter that replSetReconfig adds has no vote and no priority until its initial sync is complete (newlyAdded).',
    'SERVER-46348, new in 4.5; member_config.idl',
    ['2.6', false],
    ['5.0', true],
  ),
  getLastErrorDefaultsAreFixed: row<boolean>(
    'The settings of a replica set accept no getLastErrorDefaults but { w: 1, wtimeout: 0 }.',
    'reference/replica-configuration, changed in 5.0; repl_set_config_checks.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  implicitMajorityWriteConcern: row<boolean>(
    'The implicit default write concern is majority unless arbiters are needed for a majority of votes. replSetReconfig may not change it.',
    'reference/mongodb-defaults, new in 5.0; repl_set_config.cpp, isImplicitDefaultWriteConcernMajority',
    ['2.6', false],
    ['5.0', true],
  ),
  psaReconfigIsChecked: row<boolean>(
    'replSetReconfig to primary, secondary and arbiter, from a set with one writable voter, is refused if the secondary can be elected.',
    'rs.reconfigForPSASet, new in 5.0; repl_set_config_checks.cpp, enableReconfigRollbackCommittedWritesCheck',
    ['2.6', false],
    ['5.0', true],
  ),
  votesNeedSameConfig: row<boolean>(
    'A voter refuses a candidate with any other configuration than its own; otherwise only one with an older configuration.',
    'SERVER-46387, 4.3.5; SERVER-57262, 5.1; topology_coordinator.cpp, processReplSetRequestVotes',
    ['2.6', true],
    ['6.0.2', false],
  ),
  closerSyncSource: row<boolean>(
    'A member changes its sync source for one that is significantly closer.',
    'changeSyncSourceThresholdMillis, new in 5.0; topology_coordinator.cpp, shouldChangeSyncSourceDueToPingTime',
    ['2.6', false],
    ['5.0', true],
  ),
  preferPrimarySyncSource: row<boolean>(
    'Of two sync sources that are equally close, the primary is preferred.',
    'topology_coordinator.cpp, chooseNewSyncSource',
    ['2.6', false],
    ['8.0', true],
  ),
  replicaSetStatus: row<'syncingTo' | 'read concern time' | 'metrics' | 'written'>(
    'Fields of replSetGetStatus: syncingTo and lastStableCheckpointTimestamp; instead of them numbers of voters, wall times and metrics of elections, in 4.4 with readConcernMajorityWallTime; since 8.0 also written optimes.',
    'reference/command/replSetGetStatus of 4.0, 4.4, 5.0 and 8.0; topology_coordinator.cpp, prepareStatusResponse; SERVER-54909',
    ['2.6', 'syncingTo'],
    ['4.4', 'read concern time'],
    ['5.0', 'metrics'],
    ['8.0', 'written'],
  ),
  replicationTexts: row<'plain' | 'structured'>(
    'Wording of replSetFreeze, of a wrong set name in replSetInitiate and replSetReconfig, and of infoMessage: with values in the sentence, or after it.',
    'topology_coordinator.cpp and replication_coordinator_impl.cpp before and after LOGV2, 4.4',
    ['2.6', 'plain'],
    ['4.4', 'structured'],
  ),
  rollbackDirectory: row<'namespace' | 'uuid'>(
    'The name of the directory in which a rollback keeps the documents of a collection.',
    'core/replica-set-rollbacks, changed in 4.4; rollback_impl.cpp, _writeRollbackFileForNamespace',
    ['2.6', 'namespace'],
    ['4.4', 'uuid'],
  ),
  helloTopologyVersion: row<boolean>(
    'hello and isMaster of a member of a replica set have topologyVersion.',
    'topology_version.idl, new in 4.4',
    ['2.6', false],
    ['4.4', true],
  ),
}
