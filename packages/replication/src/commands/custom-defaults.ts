import type { ReplicaSetConfig } from '../config/replica-set-config.js'
import type { ReplicationRules } from '../rules.js'

/** Server: ReplSetConfig::containsCustomizedGetLastErrorDefaults. */
export function customDefaultsFault(
  command: 'initiate' | 'reconfig',
  { settings: { defaultWriteConcern } }: ReplicaSetConfig,
  { getLastErrorDefaultsAreFixed }: ReplicationRules,
): string | null {
  const { w, wtimeout, sync } = defaultWriteConcern
  if (!getLastErrorDefaultsAreFixed || (w === 1 && wtimeout === 0 && sync === null)) return null
  return (
    `Failed to ${command}: Replica set config contains customized getLastErrorDefaults, which has been deprecated ` +
    'and is now ignored. Use setDefaultRWConcern instead to set a cluster-wide default writeConcern.'
  )
}
