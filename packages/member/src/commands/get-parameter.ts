import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, FieldIterator, findField, type RawValue } from '@shardlab/bson'
import type { MemberInvocation } from '../member-host.js'
import { onCluster } from '../access/needs.js'

interface Asked {
  readonly everything: boolean
  readonly details: boolean
  readonly setAt: 'runtime' | 'startup' | null
}

export const getParameter: CommandRow<MemberInvocation> = {
  name: 'getParameter',
  routing: 'local',
  access: 'admin',
  privileges: onCluster('getParameter'),
  adminOnly: true,
  manual: 'reference/command/getParameter',
  status: 'partial',
  deviations: ['D712', 'D604'],
  lacks:
    'most parameters of the server; it has those with an effect that clients see and those that drivers and shells read',
  summary: 'Reads server parameters.',
  run({ args, body, host }) {
    const asked = whatIsAsked(args.target)
    const names = namesIn(body)
    const writer = new DocumentWriter(1024)
    let found = 0
    for (const row of host.parameters.rows) {
      if (!asked.everything && !names.has(row.name)) continue
      if (asked.setAt === 'runtime' && !row.settableAtRuntime) continue
      if (asked.setAt === 'startup' && !row.settableAtStartup) continue
      found++
      if (!asked.details) host.parameters.write(writer, row)
      else {
        writer.startDocument(row.name)
        host.parameters.write(writer, row, 'value')
        writer.bool('settableAtRuntime', row.settableAtRuntime).bool('settableAtStartup', row.settableAtStartup).end()
      }
    }
    if (found === 0) throw new CommandError('InvalidOptions', 'no option found to get')
    return writer
  },
}

/** @throws CommandError 40415, 14, 2 for invalid options */
function whatIsAsked(target: RawValue): Asked {
  if (target.type === BsonType.string) return { everything: target.asString() === '*', details: false, setAt: null }
  if (target.type !== BsonType.object) return { everything: false, details: false, setAt: null }
  for (const it = new FieldIterator(target.bytes, target.start); it.next();) {
    const name = it.name()
    if (name !== 'allParameters' && name !== 'showDetails' && name !== 'setAt')
      throw new CommandError(40415, `BSON field 'getParameter.${name}' is an unknown field.`)
  }
  const setAt = findField(target.bytes, 'setAt', target.start)
  return {
    everything: findField(target.bytes, 'allParameters', target.start)?.isTruthy() ?? false,
    details: findField(target.bytes, 'showDetails', target.start)?.isTruthy() ?? false,
    setAt: setAt === undefined ? null : settability(setAt),
  }
}

function settability(value: RawValue): 'runtime' | 'startup' {
  const text = value.type === BsonType.string ? value.asString() : ''
  if (text === 'runtime' || text === 'startup') return text
  throw new CommandError('BadValue', `Enumeration value '${text}' for field 'getParameter.setAt' is not a valid value.`)
}

function namesIn(body: Uint8Array): ReadonlySet<string> {
  const names = new Set<string>()
  for (const it = new FieldIterator(body); it.next();) names.add(it.name())
  return names
}
