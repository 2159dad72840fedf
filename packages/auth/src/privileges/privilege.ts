/** Actions that are allowed on what a pattern covers. Server: `privilege.cpp`, `action_set.cpp`. */
import type { DocumentWriter } from '@shardlab/bson'
import type { AccessRules } from '../rules/access-rules.js'
import { anyAction } from './action-type-table.js'
import { patternKey, writeResource, type ResourcePattern } from './resource.js'

export interface Privilege {
  readonly resource: ResourcePattern
  /** `anyAction` is alone. */
  readonly actions: ReadonlySet<string>
}

export function privilege(resource: ResourcePattern, actions: Iterable<string>): Privilege {
  const set = new Set(actions)
  return { resource, actions: set.has(anyAction) ? new Set([anyAction]) : set }
}

/** One privilege for each pattern, in the order of their first occurrence. */
export function mergePrivileges(privileges: Iterable<Privilege>): Privilege[] {
  const merged = new Map<string, Privilege>()
  for (const each of privileges) {
    const key = patternKey(each.resource)
    const present = merged.get(key)
    merged.set(key, present === undefined ? each : privilege(each.resource, [...present.actions, ...each.actions]))
  }
  return [...merged.values()]
}

/**
 * Takes actions away from privileges with the same pattern; those without actions disappear.
 * Actions that are not held do not matter.
 */
export function subtractPrivileges(
  privileges: readonly Privilege[],
  removed: readonly Privilege[],
  rules: AccessRules,
): Privilege[] {
  const actionsOf = new Map<string, Set<string>>()
  for (const { resource, actions } of removed) {
    const key = patternKey(resource)
    actionsOf.set(key, new Set([...(actionsOf.get(key) ?? []), ...actions]))
  }
  return privileges.flatMap(({ resource, actions }) => {
    const lost = actionsOf.get(patternKey(resource))
    if (lost === undefined) return [{ resource, actions }]
    if (lost.has(anyAction)) return []
    const held = actions.has(anyAction) ? rules.actions.filter((action) => action !== anyAction) : [...actions]
    const kept = held.filter((action) => !lost.has(action))
    return kept.length === 0 ? [] : [privilege(resource, kept)]
  })
}

export function writePrivileges(
  writer: DocumentWriter,
  field: string,
  privileges: readonly Privilege[],
  rules: AccessRules,
): DocumentWriter {
  writer.startArray(field)
  privileges.forEach(({ resource, actions }, i) => {
    writeResource(writer.startDocument(String(i)), 'resource', resource).startArray('actions')
    rules.inOrder(actions).forEach((action, at) => writer.string(String(at), action))
    writer.end().end()
  })
  return writer.end()
}
