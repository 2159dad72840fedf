/** config.settings `balancer` as the balancer reads it. Manual: tutorial/manage-sharded-cluster-balancer. Server: balancer_configuration.cpp. */
import { decode, type Document } from '@shardlab/bson'

export type BalancerMode = 'full' | 'autoSplitOnly' | 'off'

export interface BalancerSettings {
  readonly mode: BalancerMode
  /** Minutes of the day between which rounds are held; the end may lie before the beginning. Null: always. */
  readonly activeWindow: { readonly start: number; readonly stop: number } | null
  /** Are chunks that are too large moved all the same? */
  readonly attemptToBalanceJumboChunks: boolean
  /** Does a migration end only when the donor has deleted the range? */
  readonly waitForDelete: boolean
}

export const defaultSettings: BalancerSettings = {
  mode: 'full',
  activeWindow: null,
  attemptToBalanceJumboChunks: false,
  waitForDelete: false,
}

/** @returns a sentence instead of settings for a document that makes no sense: then there is no round. */
export function parseSettings(document: Uint8Array | null): BalancerSettings | string {
  if (document === null) return defaultSettings
  const { mode, stopped, activeWindow, attemptToBalanceJumboChunks, _waitForDelete } = decode(document)
  const window = activeWindow === undefined ? null : parseWindow(activeWindow as Document)
  if (typeof window === 'string') return window
  return {
    mode: stopped === true || mode === 'off' ? 'off' : mode === 'autoSplitOnly' ? mode : 'full',
    activeWindow: window,
    attemptToBalanceJumboChunks: attemptToBalanceJumboChunks === true,
    waitForDelete: _waitForDelete === true,
  }
}

function parseWindow(window: Document): BalancerSettings['activeWindow'] | string {
  const { start, stop } = window
  if (typeof start !== 'string' || typeof stop !== 'string' || start === '' || stop === '')
    return `must specify both start and stop of balancing window: ${JSON.stringify(window)}`
  const minutes = [start, stop].map(minuteOfDay)
  if (minutes.includes(null)) return `${start} to ${stop} is no window of time: use "hh:mm"`
  if (minutes[0] === minutes[1]) return `start and stop times must be different: ${JSON.stringify(window)}`
  return { start: minutes[0]!, stop: minutes[1]! }
}

function minuteOfDay(text: string): number | null {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return null
  return Number(hours) * 60 + Number(minutes)
}

/** Why there is no round now, one sentence; null: there is one. Times of day are those of Greenwich. */
export function reasonForRest(settings: BalancerSettings, nowMs: number): string | null {
  if (settings.mode === 'off') return 'the balancer is stopped'
  if (settings.mode === 'autoSplitOnly') return 'the balancer is only to split: its mode is autoSplitOnly'
  return isInWindow(settings, nowMs) ? null : `it is outside of the active window ${windowText(settings)} (UTC)`
}

/** Is there to be a round now? */
export function isActive(settings: BalancerSettings, nowMs: number): boolean {
  return reasonForRest(settings, nowMs) === null
}

/** May new chunks at the end of the key space, and chunks that can be merged, be taken care of now? */
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
  const text = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return `${text(activeWindow.start)} to ${text(activeWindow.stop)}`
}
