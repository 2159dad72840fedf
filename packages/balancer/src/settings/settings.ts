/**
 * The document `balancer` of config.settings. Server: balancer_configuration.cpp. Manual:
 * tutorial/manage-sharded-cluster-balancer.
 */
import {
  BsonType,
  emptyDocument,
  findField,
  isEmptyDocument,
  toExtendedJson,
  typeName,
  type RawValue,
} from '@shardlab/bson'

export type BalancerMode = 'full' | 'autoSplitOnly' | 'off'

const modes = ['full', 'autoSplitOnly', 'off'] as const satisfies BalancerMode[]

export interface BalancerSettings {
  readonly mode: BalancerMode
  /** In minutes of the day; `stop` may be before `start`. Null: always. */
  readonly activeWindow: { readonly start: number; readonly stop: number } | null
  readonly attemptToBalanceJumboChunks: boolean
  /** Whether a migration ends only after the donor has deleted the range. */
  readonly waitForDelete: boolean
  /** The write concern of each cloned batch; empty: one other member, null: none. */
  readonly secondaryThrottle: Uint8Array | null
}

export const defaultSettings: BalancerSettings = {
  mode: 'full',
  activeWindow: null,
  attemptToBalanceJumboChunks: false,
  waitForDelete: false,
  secondaryThrottle: null,
}

/** The message has the server's words. */
class WrongSettings extends Error {}

/** @returns settings, or one sentence why the document is invalid: no round runs then */
export function parseSettings(document: Uint8Array | null): BalancerSettings | string {
  if (document === null) return defaultSettings
  try {
    const mode = switchOf(document, 'stopped') ? 'off' : modeOf(document)
    const activeWindow = windowOf(document)
    const secondaryThrottle = secondaryThrottleOf(document)
    const waitForDelete = switchOf(document, '_waitForDelete')
    return {
      mode,
      activeWindow,
      waitForDelete,
      secondaryThrottle,
      attemptToBalanceJumboChunks: switchOf(document, 'attemptToBalanceJumboChunks'),
    }
  } catch (error) {
    if (error instanceof WrongSettings) return error.message
    throw error
  }
}

function switchOf(document: Uint8Array, name: string): boolean {
  const value = findField(document, name)
  if (value === undefined) return false
  if (value.type === BsonType.bool || value.isNumber()) return value.isTruthy()
  throw new WrongSettings(`Expected boolean or number type for field "${name}", found ${typeName(value.type)}`)
}

function modeOf(document: Uint8Array): BalancerMode {
  const value = findField(document, 'mode')
  if (value === undefined) return 'full'
  if (value.type !== BsonType.string) throw wrongType('mode', 'string', value)
  const mode = modes.find((each) => each === value.asString())
  if (mode === undefined) throw new WrongSettings('Invalid balancer mode')
  return mode
}

/** `_secondaryThrottle` is a bool or a write concern. */
function secondaryThrottleOf(document: Uint8Array): Uint8Array | null {
  const value = findField(document, '_secondaryThrottle')
  if (value === undefined) return null
  if (value.type === BsonType.object) return value.slice()
  if (value.type !== BsonType.bool) throw wrongType('_secondaryThrottle', 'object', value)
  return value.isTruthy() ? emptyDocument : null
}

function wrongType(name: string, expected: string, { type }: RawValue): WrongSettings {
  return new WrongSettings(`"${name}" had the wrong type. Expected ${expected}, found ${typeName(type)}`)
}

function windowOf(document: Uint8Array): BalancerSettings['activeWindow'] {
  const value = findField(document, 'activeWindow')
  if (value === undefined) return null
  if (value.type !== BsonType.object) throw wrongType('activeWindow', 'object', value)
  const window = value.slice()
  if (isEmptyDocument(window)) throw new WrongSettings('activeWindow not specified')
  const texts = ['start', 'stop'].map((name) => {
    const time = findField(window, name)
    return time?.type === BsonType.string ? time.asString() : ''
  })
  if (texts.includes(''))
    throw new WrongSettings(`must specify both start and stop of balancing window: ${toExtendedJson(window)}`)
  const [start, stop] = texts.map(minuteOfDay)
  if (start === null || stop === null)
    throw new WrongSettings('activeWindow format is  { start: "hh:mm" , stop: "hh:mm" }')
  if (start === stop) throw new WrongSettings('start and stop times must be different')
  return { start: start!, stop: stop! }
}

function minuteOfDay(text: string): number | null {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return null
  return Number(hours) * 60 + Number(minutes)
}

/** One sentence why no round runs now; null: it does. Times of day are UTC. */
export function reasonForRest(settings: BalancerSettings, nowMs: number): string | null {
  if (settings.mode === 'off') return 'the balancer is stopped'
  if (settings.mode === 'autoSplitOnly') return 'the balancer is only to split: its mode is autoSplitOnly'
  return isInWindow(settings, nowMs) ? null : `it is outside of the active window ${windowText(settings)} (UTC)`
}

export function isActive(settings: BalancerSettings, nowMs: number): boolean {
  return reasonForRest(settings, nowMs) === null
}

/** Whether work between rounds (top chunks, automatic merges) may run now. */
export function isActiveBetweenRounds(settings: BalancerSettings, nowMs: number): boolean {
  return settings.mode !== 'off' && isInWindow(settings, nowMs)
}

function isInWindow({ activeWindow }: BalancerSettings, nowMs: number): boolean {
  if (activeWindow === null) return true
  const minute = Math.floor(nowMs / 60_000) % (24 * 60)
  const { start, stop } = activeWindow
  return start < stop ? start <= minute && minute <= stop : start <= minute || minute <= stop
}

/** `01:00 to 05:30`; empty without a window. */
export function windowText({ activeWindow }: BalancerSettings): string {
  if (activeWindow === null) return ''
  const text = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return `${text(activeWindow.start)} to ${text(activeWindow.stop)}`
}
