/** `--setParameter`. Manual: reference/parameters. */
import { boolValue, CommandError, doubleValue, stringValue, type RawValue } from '@shardlab/bson'
import { parseParameter, refuseValue, type ParameterRow, type ParameterValue } from './parameter.js'

/** By name. Texts are read as on a command line: `true`, `5`, names separated by commas. */
export type StartParameters = Readonly<Record<string, ParameterValue>>

/**
 * @throws CommandError 20 IllegalOperation: it cannot be set at startup; 2 BadValue, and the row's
 *   refusal
 */
export function startValue(row: ParameterRow, given: ParameterValue): ParameterValue {
  if (!row.settableAtStartup || row.type === 'document')
    throw new CommandError('IllegalOperation', `not allowed to set [${row.name}] at startup`)
  if (row.type === 'strings') return namesOf(row, given)
  const parsed = parseParameter(row, valueOf(row, given))
  refuseValue(row, parsed)
  return parsed
}

function namesOf({ name, values }: ParameterRow, given: ParameterValue): readonly string[] {
  if (typeof given !== 'string' && !Array.isArray(given))
    throw new CommandError('BadValue', 'Unable to coerce value to correct type')
  const names = typeof given === 'string' ? given.split(',').map((each) => each.trim()) : (given as readonly string[])
  const unknown = names.find((each) => values?.includes(each) === false)
  if (unknown !== undefined) throw new CommandError('BadValue', `${name} does not support ${unknown}`)
  return names
}

function valueOf({ type }: ParameterRow, given: ParameterValue): RawValue {
  if (typeof given === 'boolean') return boolValue(given)
  if (typeof given === 'number') return doubleValue(given)
  if (typeof given !== 'string') throw new CommandError('BadValue', 'Unable to coerce value to correct type')
  if (type === 'string') return stringValue(given)
  if (given === 'true' || given === 'false') return boolValue(given === 'true')
  return /^-?\d+(\.\d+)?$/.test(given) ? doubleValue(Number(given)) : stringValue(given)
}
