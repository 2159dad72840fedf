import type { Behaviours } from '@shardlab/sharding'

/** Differences between server versions. A host passes its row of the table of behaviours. */
export type ReplicationRules = Pick<
  Behaviours,
  | 'periodicNoops'
  | 'configTerm'
  | 'configIsStructure'
  | 'memberIdMax'
  | 'safeReconfig'
  | 'newVotersSyncFirst'
  | 'getLastErrorDefaultsAreFixed'
  | 'implicitMajorityWriteConcern'
  | 'configServersAreShardServers'
  | 'psaReconfigIsChecked'
  | 'votesNeedSameConfig'
  | 'closerSyncSource'
  | 'preferPrimarySyncSource'
  | 'replicaSetStatus'
  | 'helloTopologyVersion'
  | 'replicationTexts'
  | 'stepDownError'
>
