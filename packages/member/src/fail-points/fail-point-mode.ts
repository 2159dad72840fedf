/** Server: fail_point.cpp, FailPoint::parseBSON. */
import { BsonType, CommandError, emptyDocument, findField, typeName, type RawValue } from '@shardlab/bson'
import { formatField } from '@shardlab/query'

/** The numbers by which `getParameter` shows them. */
export const FailPointKind = { off: 0, alwaysOn: 1, random: 2, times: 3, skip: 4 } as const
export type FailPointKind = (typeof FailPointKind)[keyof typeof FailPointKind]

export interface FailPointMode {
  readonly kind: FailPointKind
  /**
   * `times`: activations left; `skip`: passes left before the first activation; `random`: the
   * probability; otherwise 0.
   */
  readonly value: number
  readonly data: Uint8Array
}

const int32Max = 0x7fff_ffff

/**
 * @param skips whether the emulated version has the mode `{ skip: n }`
 * @throws CommandError 20 without a mode; 2, 4 or 14 for an invalid one
 */
export function parseFailPointMode(body: Uint8Array, skips: boolean): FailPointMode {
  const mode = findField(body, 'mode')
  if (mode === undefined)
    throw new CommandError('IllegalOperation', "When setting a failpoint, you must supply a 'mode'")
  const [kind, value] = kindOf(mode, skips)
  const data = findField(body, 'data')
  if (data === undefined) return { kind, value, data: emptyDocument }
  if (data.type !== BsonType.object && data.type !== BsonType.array)
    throw new CommandError('TypeMismatch', "the 'data' option must be a JSON object")
  return { kind, value, data: data.slice() }
}

function kindOf(mode: RawValue, skips: boolean): readonly [FailPointKind, number] {
  if (mode.type === BsonType.string) {
    const name = mode.asString()
    if (name === 'off' || name === 'alwaysOn') return [FailPointKind[name], 0]
    throw new CommandError('BadValue', `unknown mode: ${name}`)
  }
  if (mode.type !== BsonType.object) throw new CommandError('TypeMismatch', "'mode' must be a string or JSON object")
  const field = (name: string) => findField(mode.bytes, name, mode.start)
  const times = field('times')
  if (times !== undefined) return [FailPointKind.times, countOf('times', times)]
  const skip = skips ? field('skip') : undefined
  if (skip !== undefined) return [FailPointKind.skip, countOf('skip', skip)]
  const probability = field('activationProbability')
  if (probability !== undefined) return [FailPointKind.random, probabilityOf(probability)]
  throw new CommandError(
    'BadValue',
    skips
      ? "'mode' must be one of 'off', 'alwaysOn', '{times:n}', '{skip:n}' or '{activationProbability:p}'"
      : "'mode' must be one of 'off', 'alwaysOn', '{times:n}', and '{activationProbability:p}'",
  )
}

function countOf(name: string, value: RawValue): number {
  if (!value.isNumber())
    throw new CommandError(
      'TypeMismatch',
      `Expected field "${name}" to have numeric type, but found ${typeName(value.type)}`,
    )
  const count = value.asNumber()
  if (!Number.isInteger(count)) {
    const found = formatField(name, value)
    throw new CommandError(
      'BadValue',
      `Expected field "${name}" to have a value exactly representable as a 64-bit integer, but found ${found}`,
    )
  }
  if (count < 0) throw new CommandError('BadValue', `'${name}' option to 'mode' must be positive`)
  if (count > int32Max) throw new CommandError('BadValue', `'${name}' option to 'mode' is too large`)
  return count
}

function probabilityOf(value: RawValue): number {
  if (!value.isNumber())
    throw new CommandError(
      'TypeMismatch',
      "the 'activationProbability' option to 'mode' must be a double between 0 and 1",
    )
  const probability = value.asNumber()
  if (probability < 0 || probability > 1)
    throw new CommandError('BadValue', `activationProbability must be between 0.0 and 1.0; found ${probability}`)
  return probability
}
