import { CommandError, typeName, type RawValue } from '@shardlab/bson'
import { formatField } from '@shardlab/query'
import { killOpPrivileges } from '../access/administration-privileges.js'
import type { CommandSpec } from './command-spec.js'

export const killOpSpec = {
  name: 'killOp',
  access: 'admin',
  privileges: killOpPrivileges,
  adminOnly: true,
  manual: 'reference/command/killOp',
  fields: { op: 'any' },
} as const satisfies CommandSpec

/** @throws CommandError 4 NoSuchKey, 14 TypeMismatch, 2 BadValue, 26823 */
export function operationIdOf(value: RawValue | undefined): number {
  if (value === undefined) throw new CommandError('NoSuchKey', 'Missing expected field "op"')
  if (!value.isNumber())
    throw new CommandError(
      'TypeMismatch',
      `Expected field "op" to have numeric type, but found ${typeName(value.type)}`,
    )
  const id = value.asNumber()
  if (!Number.isInteger(id))
    throw new CommandError(
      'BadValue',
      `Expected field "op" to have a value exactly representable as a 64-bit integer, but found ${formatField('op', value)}`,
    )
  if (id < -0x8000_0000 || id > 0x7fff_ffff)
    throw new CommandError(26823, `invalid op : ${id}. Op ID cannot be represented with 32 bits`)
  return id
}
