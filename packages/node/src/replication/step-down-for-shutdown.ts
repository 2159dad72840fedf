import type { CommandError } from '@shardlab/bson'
import type { ReplicaSet } from './replica-set.js'

/** The member is not elected again within this time. */
const stepDownSeconds = 120

/** Null: there is no other member. See `MemberHost.stepDownForShutdown`. */
export function stepDownForShutdown(set: ReplicaSet, catchUpSeconds: number): Promise<CommandError | null> | null {
  if (set.isAlone) return null
  return set.stepDown({ seconds: catchUpSeconds + stepDownSeconds, catchUpSeconds, force: false })
}
