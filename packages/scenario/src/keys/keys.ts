/** Values of fields. */
import { readFileSync } from 'node:fs'
import { OptionError } from '@shardlab/cluster'
import { zetaOf, zipfian } from '@shardlab/load/basics'
import type { FieldSource, FieldSources } from '../file/application.js'
import { hotCount } from '../file/application-rules.js'
import { scatter32, scatterBelow } from './scatter.js'

export type KeyValue = number | string | boolean | null

export interface Progress {
  /** Inserted so far. */
  readonly documents: number
  /** The next monotonic value of the field, beyond all existing ones. */
  readonly nextKey: number
}

export interface Keys {
  /** @param u in [0, 1) */
  ofDocument(u: number, progress: Progress): KeyValue
  drawn(u: number, progress: Progress): KeyValue
  /** All keys but monotonic ones are below it; 0: keys are not numbers. */
  readonly below: number
  readonly isMonotonic: boolean
}

/** Different values of the field `other`. */
const otherValues = 997

/** Newest documents that `latest` ranks. */
export const latestRanked = 100_000

/** @throws OptionError if a file of values cannot be read or is empty */
export function keysOf(source: FieldSource): Keys {
  switch (source.distribution) {
    case 'monotonic':
      return monotonic((u, nextKey) => Math.floor(u * nextKey))
    case 'latest': {
      const rank = zipfian(latestRanked, zetaOf(latestRanked, source.theta), source.theta)
      return monotonic((u, nextKey) => Math.max(0, nextKey - 1 - rank(u)))
    }
    case 'uniform': {
      const { cardinality } = source
      if (cardinality !== undefined) return same((u) => Math.floor(u * cardinality), cardinality)
      return {
        ofDocument: (_u, { documents }) => scatter32(documents),
        drawn: (u, { documents }) => scatter32(Math.floor(u * documents)),
        below: 2 ** 32,
        isMonotonic: false,
      }
    }
    case 'zipfian': {
      const rank = zipfian(source.cardinality, zetaOf(source.cardinality, source.theta), source.theta)
      const place = scatterBelow(source.cardinality)
      return same((u) => place(rank(u)), source.cardinality)
    }
    case 'hotspot': {
      const { cardinality, shareOfOperations, shareOfDocuments = shareOfOperations } = source
      const hot = hotCount(source)
      const of =
        (shareOfHot: number) =>
        (u: number): number =>
          u < shareOfHot || hot === cardinality
            ? Math.min(hot - 1, Math.floor((u / (hot === cardinality ? 1 : shareOfHot)) * hot))
            : hot + Math.floor(((u - shareOfHot) / (1 - shareOfHot)) * (cardinality - hot))
      return { ...same(of(shareOfOperations), cardinality), ofDocument: of(shareOfDocuments) }
    }
    case 'file': {
      const values = fileValues(source.path)
      return same((u) => values[Math.floor(u * values.length)]!, 0)
    }
    case 'number':
      return {
        ofDocument: (_u, { documents }) => documents,
        drawn: (u, { documents }) => Math.floor(u * documents),
        below: 0,
        isMonotonic: false,
      }
    case 'other':
      return {
        ofDocument: (_u, { documents }) => scatter32(documents) % otherValues,
        drawn: (u) => Math.floor(u * otherValues),
        below: otherValues,
        isMonotonic: false,
      }
  }
}

/** By name. @throws OptionError as {@link keysOf} */
export function fieldKeysOf(fields: FieldSources): Map<string, Keys> {
  return new Map(Object.entries(fields).map(([name, source]) => [name, keysOf(source)]))
}

/** Operations draw from the same distribution as documents. */
function same(of: (u: number) => KeyValue, below: number): Keys {
  return { ofDocument: of, drawn: of, below, isMonotonic: false }
}

function monotonic(drawn: (u: number, nextKey: number) => number): Keys {
  return {
    ofDocument: (_u, { nextKey }) => nextKey,
    drawn: (u, { nextKey }) => drawn(u, nextKey),
    below: 0,
    isMonotonic: true,
  }
}

/** @throws OptionError if the file cannot be read or is empty */
export function fileValues(path: string): KeyValue[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new OptionError(
      `the key file ${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`,
    )
  }
  const values = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map(valueOf)
  if (values.length === 0) throw new OptionError(`the key file ${path} is empty.`)
  return values
}

function valueOf(line: string): KeyValue {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null) return value as KeyValue
  } catch {
    // Text without quotes.
  }
  return line
}
