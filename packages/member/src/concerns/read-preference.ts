/** Server: read_preference.cpp. Manual: core/read-preference. */
import { BsonType, CommandError, elementsOf, FieldIterator, findField, isEmptyDocument, typeName } from '@shardlab/bson'

const modes = ['primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'] as const
const secondsMin = 90

export type ReadPreferenceMode = (typeof modes)[number]

export type TagSet = readonly (readonly [name: string, value: string])[]

export interface ReadPreference {
  readonly mode: ReadPreferenceMode
  /** The first one that any member has counts. Empty: all members match. */
  readonly tagSets: readonly TagSet[]
  /** Null: no limit. */
  readonly maxStalenessMs: number | null
}

/** Of a document that {@link checkReadPreference} accepts. */
export function parseReadPreference(preference: Uint8Array): ReadPreference {
  const tags = findField(preference, 'tags')
  const seconds = findField(preference, 'maxStalenessSeconds')?.asNumber() ?? 0
  const sets = tags === undefined ? [] : elementsOf(tags).filter(({ type }) => type === BsonType.object)
  return {
    mode: modeOf(preference),
    tagSets: sets.map((set) => [...parseTags(set.slice())]),
    maxStalenessMs: seconds > 0 ? seconds * 1000 : null,
  }
}

/** Fields that are not strings are left out. */
export function parseTags(document: Uint8Array): Map<string, string> {
  const tags = new Map<string, string>()
  for (const it = new FieldIterator(document); it.next();) {
    const value = it.value()
    if (value.type === BsonType.string) tags.set(it.name(), value.asString())
  }
  return tags
}

/**
 * @throws CommandError 4 NoSuchKey, 2 BadValue, 14 TypeMismatch, 72 InvalidOptions, 160
 * MaxStalenessOutOfRange
 */
export function checkReadPreference(preference: Uint8Array): void {
  const mode = modeOf(preference)
  const hedge = findField(preference, 'hedge')
  if (hedge !== undefined) {
    if (hedge.type !== BsonType.object)
      throw new CommandError(
        'TypeMismatch',
        `hedge field must be of type object if provided; found ${typeName(hedge.type)}`,
      )
    if (mode === 'primary' && findField(hedge.bytes, 'enabled', hedge.start)?.isTruthy() !== false)
      throw new CommandError('InvalidOptions', 'cannot enable hedging for $readPreference mode "primaryOnly"')
  }
  const tags = findField(preference, 'tags')
  if (tags !== undefined) {
    if (tags.type !== BsonType.array)
      throw new CommandError('TypeMismatch', `"tags" had the wrong type. Expected array, found ${typeName(tags.type)}`)
    const sets = elementsOf(tags)
    const isWildcard =
      sets.length === 0 || (sets.length === 1 && sets[0]!.type === BsonType.object && isEmptyDocument(sets[0]!.slice()))
    if (mode === 'primary' && !isWildcard)
      throw new CommandError('BadValue', 'Only empty tags are allowed with primary read preference')
  }
  checkStaleness(preference, mode)
}

function modeOf(preference: Uint8Array): ReadPreferenceMode {
  const mode = findField(preference, 'mode')
  if (mode === undefined) throw new CommandError('NoSuchKey', 'Missing expected field "mode"')
  if (mode.type !== BsonType.string)
    throw new CommandError('TypeMismatch', `"mode" had the wrong type. Expected string, found ${typeName(mode.type)}`)
  const name = mode.asString()
  const known = modes.find((each) => each === name)
  if (known !== undefined) return known
  throw new CommandError(
    'BadValue',
    `Could not parse $readPreference mode '${name}'. Only the modes 'primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', and 'nearest' are supported. :: caused by :: Enumeration value '${name}' for field 'mode' is not a valid value.`,
  )
}

function checkStaleness(preference: Uint8Array, mode: string): void {
  const value = findField(preference, 'maxStalenessSeconds')
  if (value === undefined) return
  if (!value.isNumber())
    throw new CommandError(
      'TypeMismatch',
      `"maxStalenessSeconds" had the wrong type. Expected number, found ${typeName(value.type)}`,
    )
  const seconds = value.asNumber()
  if (seconds === 0) return
  if (seconds < 0) throw new CommandError('BadValue', 'maxStalenessSeconds must be a non-negative integer')
  if (seconds < secondsMin)
    throw new CommandError('MaxStalenessOutOfRange', `maxStalenessSeconds value can not be less than ${secondsMin}`)
  if (mode === 'primary') throw new CommandError('BadValue', 'maxStalenessSeconds can not be set for the primary mode')
}
