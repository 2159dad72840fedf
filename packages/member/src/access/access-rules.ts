import { AccessRules } from '@shardlab/auth'
import type { Behaviours } from '@shardlab/sharding'

const rules = new WeakMap<Behaviours, AccessRules>()

/** Of the emulated version; made once in a process. */
export function accessRulesOf(behaviours: Behaviours): AccessRules {
  let found = rules.get(behaviours)
  if (found === undefined) rules.set(behaviours, (found = new AccessRules(behaviours.releases)))
  return found
}
